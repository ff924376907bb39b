//! Rules about what tools and properties say of themselves. They find what a machine can find; whether a sentence is
//! true is for its reader.

use serde_json::Value;

use super::{Findings, each_node};
use crate::catalog::{Catalog, Node, Side, Tool};

/// Fewer characters say no more than the name.
const LEAST: usize = 60;

/// OpenAI refuses a longer description (getsentry/sentry-mcp#106); Claude Code cuts at 2,048 (anthropics/claude-code#41593).
const MOST: usize = 1_024;

/// Two words.
const LEAST_OF_A_PROPERTY: usize = 7;

/// Of some length, and not of any.
pub(super) fn description(catalog: &Catalog<'_>, findings: &mut Findings) {
    let most = catalog.policy.budget.description.min(MOST);
    for tool in &catalog.tools {
        let length = tool.description.chars().count();
        if !(LEAST..=most).contains(&length) {
            findings.tool(
                tool,
                format!("a description of {length} characters; {LEAST} to {most} are wanted (OpenAI refuses more than {MOST})"),
            );
        }
    }
}

/// A model knows of an argument what is said here: its name alone is a guess.
pub(super) fn property_descriptions(catalog: &Catalog<'_>, findings: &mut Findings) {
    each_node(catalog, |tool, node| {
        if node.property.is_some() && node.text().is_none_or(|text| text.chars().count() < LEAST_OF_A_PROPERTY) {
            findings.node(tool, node, "does not say what it is");
        }
    });
}

/// Half a sentence was cut or forgotten.
pub(super) fn full_stops(catalog: &Catalog<'_>, findings: &mut Findings) {
    each_text(catalog, |tool, node, text| {
        (!text.is_empty() && !text.ends_with('.')).then(|| said(findings, tool, node, "ends without a full stop"));
    });
}

/// A description is read by a model as part of its own instructions: "we" has no referent there, praise is noise, and
/// words that shout at a model are what scanners for poisoned tools look for.
pub(super) fn voice(catalog: &Catalog<'_>, findings: &mut Findings) {
    const FIRST_PERSON: [&str; 5] = ["we", "our", "ours", "my", "mine"];
    const NOISE: [&str; 8] = ["simply", "easily", "seamlessly", "powerful", "obviously", "please", "effortlessly", "leverages"];
    const SHOUTED: [&str; 6] = ["IMPORTANT", "CRITICAL", "ALWAYS", "NEVER", "MUST", "WARNING"];
    each_text(catalog, |tool, node, text| {
        for word in text.split_whitespace().map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric())) {
            let lower = word.to_lowercase();
            if word == "I" || FIRST_PERSON.contains(&lower.as_str()) {
                said(findings, tool, node, &format!("speaks in the first person: {word}"));
            } else if NOISE.contains(&lower.as_str()) || SHOUTED.contains(&word) {
                said(findings, tool, node, &format!("the word {word} adds nothing"));
            }
        }
    });
}

/// Headings and fences are drawn by no client and paid for by all; what cannot be seen can say to a model what no person
/// reads.
pub(super) fn plain(catalog: &Catalog<'_>, findings: &mut Findings) {
    let invisible = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    each_text(catalog, |tool, node, text| {
        if text.lines().any(|line| line.trim_start().starts_with('#')) || text.contains("```") || text.contains("**") {
            said(findings, tool, node, "has markup");
        }
        if text.chars().any(|letter| invisible(letter) && letter != '\n') {
            said(findings, tool, node, "has a character that cannot be seen");
        }
    });
}

/// Most clients keep the output schema from the model, so what comes back is said in words: a sentence that begins with
/// "Answers" or "Returns", or a part of one after "and".
pub(super) fn says_result(catalog: &Catalog<'_>, findings: &mut Findings) {
    const WORDS: [&str; 4] = ["Answers ", "Returns ", "and answers ", "and returns "];
    for tool in &catalog.tools {
        let answers = |schema: &Value| schema.get("properties").and_then(Value::as_object).is_some_and(|properties| !properties.is_empty());
        let says = WORDS.iter().any(|words| tool.description.contains(words));
        if tool.schema(Side::Output).is_some_and(answers) && !says {
            findings.tool(tool, "does not say what it answers (Answers …, … and answers …, or the same of returns)");
        }
    }
}

/// A person is asked to confirm a destructive call by its description. The tool's own name does not count: that
/// `delete_asset` deletes is no news; nor do the names of other tools.
pub(super) fn says_loss(catalog: &Catalog<'_>, findings: &mut Findings) {
    const WORDS: [&str; 14] = [
        "for good",
        "undone",
        "lost",
        "lose",
        "overwrit",
        "replac",
        "remov",
        "delet",
        "terminat",
        "destroy",
        "erase",
        "no longer",
        "revok",
        "discard",
    ];
    for tool in catalog.tools.iter().filter(|tool| tool.hint("destructiveHint") == Some(true)) {
        let lower = tool.description.to_lowercase();
        let lower = lower.split_whitespace().filter(|word| !word.contains('_')).collect::<Vec<_>>().join(" ");
        if !WORDS.iter().any(|word| lower.contains(word) && !tool.name.contains(word)) {
            findings.tool(tool, "is destructive and does not say what is lost");
        }
    }
}

/// `default` is not advertised (clients drop it), so an argument that may be left out says what holds then. Free texts
/// and objects need not: nothing was said.
pub(super) fn says_default(catalog: &Catalog<'_>, findings: &mut Findings) {
    const WORDS: [&str; 6] = ["left out", "default", "without", "otherwise", "unless", "omitted"];
    each_node(catalog, |tool, node| {
        let decides = matches!(node.kind(), Some("integer" | "number" | "boolean")) || node.get("enum").is_some();
        let lower = node.text().unwrap_or_default().to_lowercase();
        if node.side == Side::Input && node.property.is_some() && node.optional && decides && !WORDS.iter().any(|word| lower.contains(word))
        {
            findings.node(tool, node, "does not say what holds when it is left out");
        }
    });
}

/// Limits of a plan, rights that a caller needs: what only the product knows.
pub(super) fn says_facts(catalog: &Catalog<'_>, findings: &mut Findings) {
    for (name, words) in catalog.policy.says {
        let tool = catalog.tools.iter().find(|tool| tool.name == *name);
        match tool {
            Some(tool) if !tool.description.contains(words) => findings.tool(tool, format!("does not say: {words}")),
            Some(_) => {}
            None => findings.list(format!("the policy wants something said by {name}, which is no tool")),
        }
    }
}

/// A tool that was renamed lives on in the descriptions of others.
pub(super) fn names_tools(catalog: &Catalog<'_>, findings: &mut Findings) {
    let prefix = catalog.policy.prefix;
    let mut known: Vec<&str> = catalog.tools.iter().map(|tool| tool.name).collect();
    for node in catalog.tools.iter().flat_map(Tool::nodes) {
        known.extend(node.property);
        known.extend(node.names("enum"));
    }
    let looks_like_a_tool = |word: &str| match word.strip_prefix(prefix).and_then(|rest| rest.split_once('_')) {
        Some((verb, _)) => !prefix.is_empty() || catalog.tools.iter().any(|tool| tool.verb() == verb),
        None => false,
    };
    each_text(catalog, |tool, node, text| {
        for word in text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_') {
            if looks_like_a_tool(word) && !known.contains(&word) {
                said(findings, tool, node, &format!("names {word}, which is no tool"));
            }
        }
    });
}

fn each_text(catalog: &Catalog<'_>, mut look: impl FnMut(&Tool<'_>, Option<&Node<'_>>, &str)) {
    for tool in &catalog.tools {
        look(tool, None, tool.description);
    }
    each_node(catalog, |tool, node| {
        if let Some(text) = node.text() {
            look(tool, Some(node), text);
        }
    });
}

fn said(findings: &mut Findings, tool: &Tool<'_>, node: Option<&Node<'_>>, text: &str) {
    match node {
        Some(node) => findings.node(tool, node, text),
        None => findings.tool(tool, text),
    }
}
