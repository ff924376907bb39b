//! The tools of a product: what is advertised, and what is checked against exactly that.

mod check;
mod raw;
mod schema;
mod shape;
mod tool;

use std::collections::HashMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

pub use check::{Nulls, Violation};
pub use raw::{RawTool, Showing, Shown};
pub use tool::{Call, Hints, Image, Reply, Tool, ToolSpec, Unknown};

use crate::error::ToolError;
use crate::mcp::param_headers::{self, ParamHeader};
use crate::mcp::{Product, Refusals, Version};
use raw::Raw;
use shape::Shape;
pub(crate) use tool::{Complete, Rendered};
use tool::{Erased, Typed};

/// The tools of one product, in the order they are advertised, with the bytes of the list built once per version.
pub struct Catalog<P: Product> {
    entries: Vec<Entry<P>>,
    by_name: HashMap<&'static str, usize>,
    lists: Vec<(Version, Box<RawValue>)>,
}

struct Entry<P: Product> {
    spec: &'static ToolSpec,
    input: Value,
    /// A raw tool promises nothing of its results.
    output: Option<Value>,
    /// A raw tool takes what comes.
    shape: Option<Shape>,
    param_headers: Vec<ParamHeader>,
    tool: Box<dyn Erased<P>>,
}

/// A call that was found and whose arguments hold.
pub(crate) struct Ready<'c, P: Product> {
    entry: &'c Entry<P>,
    arguments: Value,
}

impl<P: Product> Catalog<P> {
    /// No tools yet.
    pub fn new() -> Self {
        Self { entries: Vec::new(), by_name: HashMap::new(), lists: Vec::new() }
    }

    /// Adds a tool after those already there.
    ///
    /// # Panics
    /// At start, never on a call: when a schema uses what clients refuse or what arguments are not checked against,
    /// when a property has no description, when a name is taken.
    #[must_use]
    pub fn with<T: Tool<Product = P>>(mut self) -> Self {
        let spec = &T::SPEC;
        let refuse = |reason: String| -> ! { panic!("tool {}: {reason}", spec.name) };
        let input = schema::of_arguments::<T::Args>(spec.unknown).unwrap_or_else(|reason| refuse(reason));
        let mut output = schema::of_result::<T::Output>().unwrap_or_else(|reason| refuse(reason));
        if P::PROFILE.refusals == Refusals::Structured {
            schema::admit_refusals(&mut output).unwrap_or_else(|reason| refuse(reason));
        }
        let shape = Shape::compile(&input).unwrap_or_else(|reason| refuse(reason));
        if !is_name(spec.name, MOST_NAME) {
            refuse(format!("the name must be lower-case letters, digits and _, at most {MOST_NAME} of them"));
        }
        if spec.narrowed_by.is_some_and(|argument| input["properties"].get(argument).is_none()) {
            refuse("narrowed_by names no argument".into());
        }
        let tool = Box::new(Typed::<T>::new());
        self.add(Entry { spec, input, output: Some(output), shape: Some(shape), param_headers: Vec::new(), tool });
        self
    }

    /// Adds a tool whose schema and content are written by hand.
    ///
    /// # Panics
    /// At start, never on a call: when the name is none or taken, when the schema's root is no object.
    #[must_use]
    pub fn with_raw(mut self, tool: impl RawTool<P>) -> Self {
        let (spec, input) = (tool.spec(), tool.input_schema());
        assert!(is_name(spec.name, MOST_RAW_NAME), "tool {}: the name must be lower-case letters, digits and _", spec.name);
        assert!(input.get("type") == Some(&json!("object")), "tool {}: the root of the schema must be an object", spec.name);
        let param_headers = param_headers::of_schema(&input);
        self.add(Entry { spec, input, output: None, shape: None, param_headers, tool: Box::new(Raw(tool)) });
        self
    }

    fn add(&mut self, entry: Entry<P>) {
        let name = entry.spec.name;
        assert!(self.by_name.insert(name, self.entries.len()).is_none(), "tool {name}: the name is taken");
        self.entries.push(entry);
    }

    /// Builds the lists, once all tools are there.
    #[must_use]
    pub(crate) fn ready(mut self) -> Self {
        self.lists = P::PROFILE.all_versions().map(|version| (version, list(&self.entries, version))).collect();
        self
    }

    /// The `tools` array as this version of the protocol knows it, ready to be sent.
    pub fn list(&self, version: Version) -> &RawValue {
        let built = self.lists.iter().find(|(of, _)| *of == version).map(|(_, list)| list);
        built.expect("a list is built for every version that the profile serves")
    }

    /// The tools' names, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.entries.iter().map(|entry| entry.spec.name)
    }

    /// The description of every tool: what it is, what it takes, what it answers.
    pub fn specs(&self) -> impl Iterator<Item = (&'static ToolSpec, &Value, Option<&Value>)> {
        self.entries.iter().map(|entry| (entry.spec, &entry.input, entry.output.as_ref()))
    }

    /// Finds a tool. Names match exactly.
    pub(crate) fn find(&self, name: &str) -> Option<Found<'_, P>> {
        self.by_name.get(name).map(|at| Found { entry: &self.entries[*at] })
    }
}

impl<P: Product> Default for Catalog<P> {
    fn default() -> Self {
        Self::new()
    }
}

/// A tool that was found by its name.
pub(crate) struct Found<'c, P: Product> {
    entry: &'c Entry<P>,
}

impl<'c, P: Product> Found<'c, P> {
    pub(crate) fn spec(&self) -> &'static ToolSpec {
        self.entry.spec
    }

    pub(crate) fn param_headers(&self) -> &'c [ParamHeader] {
        &self.entry.param_headers
    }

    /// Coerces the arguments and checks them against the advertised schema: all faults at once.
    pub(crate) fn check(self, arguments: Map<String, Value>) -> Result<Ready<'c, P>, Vec<Violation>> {
        let spec = self.entry.spec;
        let arguments = match &self.entry.shape {
            Some(shape) => check::arguments(shape, arguments, spec.nulls)?,
            None => Value::Object(arguments),
        };
        Ok(Ready { entry: self.entry, arguments })
    }
}

impl<P: Product> Ready<'_, P> {
    /// Runs the tool.
    pub(crate) async fn run(self, product: &P, call: Call<'_, P::Caller>) -> Result<Rendered, ToolError> {
        self.entry.tool.call(product, call, self.arguments).await
    }
}

/// Clients put a prefix before a tool's name, and models refuse names of more than 64 characters.
const MOST_NAME: usize = 36;

/// What models take of a name that is written by hand.
const MOST_RAW_NAME: usize = 64;

fn is_name(name: &str, most: usize) -> bool {
    let letter = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'_';
    name.len() <= most && name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(letter)
}

fn list<P: Product>(entries: &[Entry<P>], version: Version) -> Box<RawValue> {
    let tools: Vec<Value> = entries.iter().map(|entry| advertised(entry, version)).collect();
    serde_json::value::to_raw_value(&tools).expect("a tool's description is plain JSON")
}

fn advertised<P: Product>(entry: &Entry<P>, version: Version) -> Value {
    let ToolSpec { name, title, description, hints, .. } = entry.spec;
    let mut tool = Map::new();
    tool.insert("name".into(), json!(name));
    tool.insert("title".into(), json!(title));
    tool.insert("description".into(), json!(description));
    tool.insert("inputSchema".into(), entry.input.clone());
    if let Some(output) = entry.output.as_ref().filter(|_| version.has_output_schemas()) {
        tool.insert("outputSchema".into(), output.clone());
    }
    if version.has_annotations() {
        tool.insert("annotations".into(), hints.advertised(title));
    }
    Value::Object(tool)
}
