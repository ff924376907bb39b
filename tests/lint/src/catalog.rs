//! A list of tools, taken apart for the rules.

use serde_json::Value;

use crate::Policy;

/// A list beside what its product promises.
pub(crate) struct Catalog<'c> {
    pub(crate) tools: Vec<Tool<'c>>,
    pub(crate) raw: &'c [Value],
    pub(crate) policy: &'c Policy,
}

/// One tool.
pub(crate) struct Tool<'c> {
    pub(crate) name: &'c str,
    pub(crate) description: &'c str,
    pub(crate) raw: &'c Value,
    /// The name without the product's prefix.
    pub(crate) verb_noun: &'c str,
}

/// Arguments or results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Input,
    Output,
}

impl Side {
    fn key(self) -> &'static str {
        match self {
            Self::Input => "inputSchema",
            Self::Output => "outputSchema",
        }
    }
}

/// A schema somewhere in a tool.
pub(crate) struct Node<'c> {
    pub(crate) side: Side,
    pub(crate) schema: &'c Value,
    /// For people: `inputSchema/fields`.
    pub(crate) path: String,
    /// The property whose schema it is.
    pub(crate) property: Option<&'c str>,
    /// It may be left out.
    pub(crate) optional: bool,
    /// Objects and arrays down to here, itself included.
    pub(crate) depth: usize,
}

impl<'c> Catalog<'c> {
    pub(crate) fn new(raw: &'c [Value], policy: &'c Policy) -> Self {
        let text = |tool: &'c Value, member: &str| tool.get(member).and_then(Value::as_str).unwrap_or_default();
        let tools = raw.iter().map(|tool| {
            let name = text(tool, "name");
            Tool { name, description: text(tool, "description"), raw: tool, verb_noun: name.strip_prefix(policy.prefix).unwrap_or(name) }
        });
        Self { tools: tools.collect(), raw, policy }
    }

    pub(crate) fn has_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    /// Everything that is said anywhere.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &'c str> {
        self.tools.iter().flat_map(|tool| std::iter::once(tool.description).chain(tool.nodes().into_iter().filter_map(|node| node.text())))
    }
}

impl<'c> Tool<'c> {
    /// The first word of its name.
    pub(crate) fn verb(&self) -> &'c str {
        self.verb_noun.split('_').next().unwrap_or_default()
    }

    pub(crate) fn schema(&self, side: Side) -> Option<&'c Value> {
        self.raw.get(side.key())
    }

    pub(crate) fn hint(&self, name: &str) -> Option<bool> {
        self.raw.get("annotations")?.get(name)?.as_bool()
    }

    /// Every schema in it, from the outside in.
    pub(crate) fn nodes(&self) -> Vec<Node<'c>> {
        let mut nodes = Vec::new();
        for side in [Side::Input, Side::Output] {
            if let Some(schema) = self.schema(side) {
                walk(Node { side, schema, path: side.key().to_owned(), property: None, optional: false, depth: 1 }, &mut nodes);
            }
        }
        nodes
    }
}

impl<'c> Node<'c> {
    pub(crate) fn get(&self, keyword: &str) -> Option<&'c Value> {
        self.schema.get(keyword)
    }

    pub(crate) fn kind(&self) -> Option<&'c str> {
        self.get("type").and_then(Value::as_str)
    }

    /// What it says of itself.
    pub(crate) fn text(&self) -> Option<&'c str> {
        self.get("description").and_then(Value::as_str)
    }

    /// The names that it lists under a keyword.
    pub(crate) fn names(&self, keyword: &str) -> impl Iterator<Item = &'c str> {
        self.get(keyword).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    pub(crate) fn is_root(&self) -> bool {
        !self.path.contains('/')
    }

    fn inner(&self, schema: &'c Value, step: &str, property: Option<&'c str>, optional: bool) -> Self {
        let deeper = matches!(schema.get("type").and_then(Value::as_str), Some("object" | "array"));
        let depth = self.depth + usize::from(deeper);
        Self { side: self.side, schema, path: format!("{}/{step}", self.path), property, optional, depth }
    }
}

fn walk<'c>(node: Node<'c>, nodes: &mut Vec<Node<'c>>) {
    let required: Vec<&str> = node.names("required").collect();
    let properties = node.get("properties").and_then(Value::as_object).into_iter().flatten();
    let mut inner: Vec<Node<'c>> =
        properties.map(|(name, schema)| node.inner(schema, name, Some(name.as_str()), !required.contains(&name.as_str()))).collect();
    for keyword in ["items", "additionalProperties"] {
        // Both values of a boolean are fine for additionalProperties alone.
        if let Some(schema) = node.get(keyword).filter(|schema| keyword == "items" || !schema.is_boolean()) {
            inner.push(node.inner(schema, keyword, None, false));
        }
    }
    for option in node.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
        inner.push(node.inner(option, "anyOf", None, false));
    }
    nodes.push(node);
    for node in inner {
        walk(node, nodes);
    }
}
