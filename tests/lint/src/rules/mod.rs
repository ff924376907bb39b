//! The rules. Sources are threads on GitHub where the fault was met, unless something else is named.

mod hints;
mod ids;
mod lists;
mod prose;
mod schema;
mod values;

use crate::catalog::{Catalog, Node, Tool};
use crate::line;

/// From so many on, llama.cpp does not repeat: `MAX_REPETITION_THRESHOLD` in its `llama-grammar.cpp`.
pub(crate) const REPETITIONS: u32 = 2_000;

macro_rules! rules {
    ($($rule:ident = $look:path: $what:literal,)*) => {
        /// A rule by its name, so that a policy can waive it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Rule {
            $(#[doc = $what] $rule,)*
        }

        pub(crate) const ALL: &[(Rule, fn(&Catalog<'_>, &mut Findings))] = &[$((Rule::$rule, $look),)*];
    };
}

rules! {
    ToolNames = lists::tool_names: "A name that fits behind every client's prefix, once.",
    Budget = lists::budget: "Tools, tokens and bytes within the budget.",
    Roots = schema::roots: "Both schemas are objects with properties; arguments closed, results open.",
    Keywords = schema::keywords: "No keyword that a provider has no field for.",
    Types = schema::types: "One type in each schema; arrays say of what.",
    Depth = schema::depth: "At most five objects and arrays in each other.",
    PropertyNames = schema::property_names: "Names that Anthropic takes, in the product's case.",
    Required = schema::required: "Required names are there, once.",
    Enums = values::enums: "Choices are texts, none of them empty, none twice.",
    Bounds = values::bounds: "Bounds that a float keeps, the right way round.",
    Repetitions = values::repetitions: "Lengths below what grammars repeat.",
    Patterns = values::patterns: "Patterns in the dialect that all readers share.",
    Description = prose::description: "A description of a bearable length.",
    PropertyDescriptions = prose::property_descriptions: "Every property says what it is.",
    FullStops = prose::full_stops: "Texts are whole sentences.",
    Voice = prose::voice: "No first person, no advertising, no shouting.",
    Plain = prose::plain: "No markup, nothing invisible.",
    SaysResult = prose::says_result: "A description says what comes back.",
    SaysLoss = prose::says_loss: "A destructive tool says what is lost.",
    SaysDefault = prose::says_default: "An optional choice or number says what holds when it is left out.",
    SaysFacts = prose::says_facts: "What the policy wants said is said.",
    NamesTools = prose::names_tools: "A tool that is named exists.",
    IdKinds = ids::kinds: "Every kind of id is known to the policy, and the other way round.",
    IdLifetimes = ids::lifetimes: "How long an id lives is said somewhere.",
    IdSources = ids::sources: "An id that is asked for names a tool that gives it.",
    Hints = hints::complete: "All four hints, and the title twice.",
    HintsAgree = hints::agree: "Hints that do not contradict each other.",
    HintsFitNames = hints::fit_names: "Hints that a tool's name leads one to expect.",
    OpenWorld = hints::open_world: "Open world exactly where the policy says so.",
}

/// What a rule found.
#[derive(Debug, Default)]
pub(crate) struct Findings(pub(crate) Vec<Finding>);

/// One fault.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) tool: String,
    path: String,
    text: String,
}

impl Finding {
    pub(crate) fn line(&self) -> String {
        line(&self.tool, &self.path, &self.text)
    }
}

impl Findings {
    fn list(&mut self, text: impl Into<String>) {
        self.0.push(Finding { tool: String::new(), path: String::new(), text: text.into() });
    }

    fn tool(&mut self, tool: &Tool<'_>, text: impl Into<String>) {
        self.0.push(Finding { tool: tool.name.to_owned(), path: String::new(), text: text.into() });
    }

    fn node(&mut self, tool: &Tool<'_>, node: &Node<'_>, text: impl Into<String>) {
        self.0.push(Finding { tool: tool.name.to_owned(), path: node.path.clone(), text: text.into() });
    }
}

/// Looks at every schema of every tool.
fn each_node(catalog: &Catalog<'_>, mut look: impl FnMut(&Tool<'_>, &Node<'_>)) {
    for tool in &catalog.tools {
        for node in tool.nodes() {
            look(tool, &node);
        }
    }
}
