//! A tool: typed where it is written, erased where it is kept.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::check::Nulls;
use crate::error::ToolError;
use crate::mcp::{Ask, Client, Level, Notices, Product};

/// One tool. The schema that clients see is derived from `Args` and `Output`; it is written nowhere else.
pub trait Tool: Sized + Send + Sync + 'static {
    /// The product it belongs to.
    type Product: Product;
    /// Its arguments, as an object.
    type Args: DeserializeOwned + JsonSchema + Send;
    /// Its result, as an object.
    type Output: Serialize + JsonSchema + Send;
    /// Everything about it that is not a type.
    const SPEC: ToolSpec;

    /// Does the work. `args` satisfy the advertised schema.
    fn call(
        product: &Self::Product,
        call: Call<'_, <Self::Product as Product>::Caller>,
        args: Self::Args,
    ) -> impl Future<Output = Result<Reply<Self::Output>, ToolError>> + Send;
}

/// What a tool is called, says of itself and promises.
#[derive(Debug, Clone, Copy)]
pub struct ToolSpec {
    /// `verb_noun`, at most 36 characters, so that a client's own prefix fits into 64.
    pub name: &'static str,
    /// For people: sentence case.
    pub title: &'static str,
    /// For models: what it does, its limits, what comes back, how long ids live.
    pub description: &'static str,
    /// What a client may assume of a call.
    pub hints: Hints,
    /// What happens to arguments that the schema does not name.
    pub unknown: Unknown,
    /// What `null` means for an optional argument.
    pub nulls: Nulls,
    /// The argument that makes a too large answer smaller, if there is one.
    pub narrowed_by: Option<&'static str>,
    /// The right that a caller must have ([`Product::authorise`]).
    pub scope: Option<&'static str>,
    /// Whether it may ask a person for something before it goes on ([`Reply::ask`]).
    pub asks: bool,
}

impl ToolSpec {
    /// What holds for a tool that says nothing else: the base of a struct update. It has no name, which the catalog
    /// refuses, and nothing may be assumed of it.
    pub const STRICT: Self = Self {
        name: "",
        title: "",
        description: "",
        hints: Hints::UNTOLD,
        unknown: Unknown::Refuse,
        nulls: Nulls::Absent,
        narrowed_by: None,
        scope: None,
        asks: false,
    };
}

/// The four hints of the protocol, always all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    /// Changes nothing.
    pub read_only: bool,
    /// May destroy or overwrite what was there.
    pub destructive: bool,
    /// A second equal call leaves the state as the first did.
    pub idempotent: bool,
    /// Reaches beyond the product (sends mail, calls a vendor).
    pub open_world: bool,
}

impl Hints {
    /// Nothing may be assumed.
    pub const UNTOLD: Self = Self { read_only: false, destructive: true, idempotent: false, open_world: true };
    /// Reads only.
    pub const READ: Self = Self { read_only: true, destructive: false, idempotent: true, open_world: false };
    /// Makes something new on every call.
    pub const CREATE: Self = Self { read_only: false, destructive: false, idempotent: false, open_world: false };
    /// Adds to what is there; a second equal call changes nothing.
    pub const MERGE: Self = Self { read_only: false, destructive: false, idempotent: true, open_world: false };
    /// Replaces or removes; a second equal call changes nothing.
    pub const REPLACE: Self = Self { read_only: false, destructive: true, idempotent: true, open_world: false };

    pub(super) fn advertised(self, title: &str) -> Value {
        json!({
            "title": title,
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
            "openWorldHint": self.open_world,
        })
    }
}

/// What happens to arguments that the schema does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// Refused by name.
    Refuse,
    /// Handed to the tool, which knows a route that refuses them.
    PassOn,
}

/// What a tool's handler knows of its call. No HTTP, no JSON-RPC.
#[derive(Debug)]
pub struct Call<'a, C> {
    /// Who calls.
    pub caller: &'a C,
    /// Names this call in the log and in internal errors.
    pub request_id: &'a str,
    /// When the call came in. One call sees one time.
    pub now: Timestamp,
    /// What the client said of itself, and what it brought along.
    pub client: &'a Client,
    notices: &'a Notices,
}

impl<'a, C> Call<'a, C> {
    pub(crate) fn new(caller: &'a C, request_id: &'a str, now: Timestamp, client: &'a Client, notices: &'a Notices) -> Self {
        Self { caller, request_id, now, client, notices }
    }

    /// Tells the client how far the call is, if it asked to be told.
    ///
    /// `progress` rises with each call; `total` is what it will be at the end, where that is known.
    pub fn progress(&self, progress: f64, total: Option<f64>) {
        self.notices.progress(self.client, progress, total);
    }

    /// Tells the client something beside the result, if it wants messages that severe.
    pub fn log(&self, level: Level, data: &Value) {
        self.notices.log(self.client, level, data);
    }
}

/// A tool's answer: a value, or a question to a person.
#[derive(Debug)]
pub struct Reply<T>(Told<T>);

#[derive(Debug)]
enum Told<T> {
    Value { value: T, images: Vec<Image>, meta: Map<String, Value> },
    Ask { ask: Ask, otherwise: Option<Box<Result<Reply<T>, ToolError>>> },
}

/// A picture beside the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// `image/png`, say.
    pub mime_type: &'static str,
    /// Its bytes in base64.
    pub base64: String,
}

impl<T> From<T> for Reply<T> {
    fn from(value: T) -> Self {
        Self(Told::Value { value, images: Vec::new(), meta: Map::new() })
    }
}

impl<T> Reply<T> {
    /// Asks a person before the tool goes on. A client that cannot ask is told what it lacks.
    pub fn ask(ask: Ask) -> Self {
        Self(Told::Ask { ask, otherwise: None })
    }

    /// Asks a person before the tool goes on; a client that cannot ask gets `otherwise`.
    pub fn ask_or(ask: Ask, otherwise: Result<Reply<T>, ToolError>) -> Self {
        Self(Told::Ask { ask, otherwise: Some(Box::new(otherwise)) })
    }

    /// Adds a picture after the text. A question has none.
    #[must_use]
    pub fn with_image(mut self, image: Image) -> Self {
        if let Told::Value { images, .. } = &mut self.0 {
            images.push(image);
        }
        self
    }

    /// Adds a member of the result's `_meta`. A question has none.
    #[must_use]
    pub fn with_meta(mut self, key: &str, value: Value) -> Self {
        if let Told::Value { meta, .. } = &mut self.0 {
            meta.insert(key.into(), value);
        }
        self
    }
}

impl<T: Serialize> Reply<T> {
    /// Forgets the type, and decides whether this client is asked.
    fn rendered(self, client: &Client) -> Result<Rendered, ToolError> {
        match self.0 {
            Told::Value { value, images, meta } => {
                let value = serde_json::value::to_raw_value(&value).map_err(ToolError::internal)?;
                Ok(Rendered::Complete(Complete { value: Some(value), images, raw: Vec::new(), meta }))
            }
            Told::Ask { ask, otherwise: Some(otherwise) } if !ask.suits(client) => otherwise.and_then(|reply| reply.rendered(client)),
            Told::Ask { ask, .. } => Ok(Rendered::Ask(ask)),
        }
    }
}

/// What came of a tool, its types forgotten.
pub(crate) enum Rendered {
    Complete(Complete),
    Ask(Ask),
}

/// An answer whose value is JSON already.
#[derive(Default)]
pub(crate) struct Complete {
    /// Told as text and as a value.
    pub(crate) value: Option<Box<RawValue>>,
    pub(crate) images: Vec<Image>,
    /// Content that is written as it is.
    pub(crate) raw: Vec<Value>,
    pub(crate) meta: Map<String, Value>,
}

pub(super) type Running<'a> = Pin<Box<dyn Future<Output = Result<Rendered, ToolError>> + Send + 'a>>;

/// A tool whose types are forgotten, so that tools stand in one list.
pub(super) trait Erased<P: Product>: Send + Sync {
    fn call<'a>(&'a self, product: &'a P, call: Call<'a, P::Caller>, arguments: Value) -> Running<'a>;
}

pub(super) struct Typed<T>(PhantomData<fn() -> T>);

impl<T> Typed<T> {
    pub(super) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: Tool> Erased<T::Product> for Typed<T> {
    fn call<'a>(&'a self, product: &'a T::Product, call: Call<'a, <T::Product as Product>::Caller>, arguments: Value) -> Running<'a> {
        Box::pin(async move {
            // The error itself may quote an argument, and this goes to the log.
            let args = serde_json::from_value(arguments)
                .map_err(|_| ToolError::internal(format!("{}: the schema let through what the type refuses", T::SPEC.name)))?;
            let client = call.client;
            T::call(product, call, args).await?.rendered(client)
        })
    }
}
