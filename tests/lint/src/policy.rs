//! What a product decides for itself.

use crate::{Rule, line};

/// What a product promises of its list of tools. A struct update of [`Policy::STRICT`].
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// The name under which its documentation tells people to add it to a client, which puts it before each tool's.
    pub server: &'static str,
    /// What the name of every tool begins with before its verb; `rent_`, say. Empty for none.
    pub prefix: &'static str,
    /// How arguments and members of results are written.
    pub case: Case,
    /// Whether each tool says what it answers.
    pub outputs: Outputs,
    /// Refusals are told as structured results too, so no output schema may require anything.
    pub refusals_are_results: bool,
    /// The tools that pass on arguments which their schema does not name.
    pub open_arguments: &'static [&'static str],
    /// The tools that reach beyond the product: send mail, call a vendor.
    pub open_world: &'static [&'static str],
    /// Every kind of id that the tools take or answer, and how long it lives.
    pub ids: &'static [Id],
    /// What the description of a tool has to say, as pairs of tool and words: plan limits, rights, dangers.
    pub says: &'static [(&'static str, &'static str)],
    /// What a model may be made to read.
    pub budget: Budget,
    /// What is broken on purpose.
    pub waivers: &'static [Waiver],
}

impl Policy {
    /// No exception to anything, and no budget yet.
    pub const STRICT: Self = Self {
        server: "",
        prefix: "",
        case: Case::Snake,
        outputs: Outputs::All,
        refusals_are_results: false,
        open_arguments: &[],
        open_world: &[],
        ids: &[],
        says: &[],
        budget: Budget { tools: 40, tokens: 0, largest: 0, list_bytes: 0, description: 450 },
        waivers: &[],
    };
}

/// How names are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// `asset_id`
    Snake,
    /// `agentId`
    Camel,
}

/// Whether tools say what they answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outputs {
    /// Each does.
    All,
    /// Some do not.
    Some,
}

/// A kind of id, or of anything else that is handed out and handed in again.
#[derive(Debug, Clone, Copy)]
pub struct Id {
    /// The argument or the member of results.
    pub name: &'static str,
    /// The words by which a description somewhere in the list says how long it lives.
    pub lives: &'static str,
}

/// What the list may cost. A model reads it before its first word, on every request.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// How many tools. Cursor sends the first 40 of all servers together and drops the rest, VS Code and OpenAI refuse
    /// a request with more than 128.
    pub tools: usize,
    /// Tokens of all tools ([`crate::size_of`]).
    pub tokens: usize,
    /// Tokens of one tool.
    pub largest: usize,
    /// Bytes of the whole array, output schemas and hints included.
    pub list_bytes: usize,
    /// Characters of a description.
    pub description: usize,
}

/// A rule that does not hold, and why.
#[derive(Debug, Clone, Copy)]
pub struct Waiver {
    /// The rule.
    pub rule: Rule,
    /// For which tools. Empty for every tool.
    pub tools: &'static [&'static str],
    /// The reason, for who reads the policy.
    pub because: &'static str,
}

impl Waiver {
    pub(crate) fn covers(&self, rule: Rule, tool: &str) -> bool {
        self.rule == rule && (self.tools.is_empty() || self.tools.contains(&tool))
    }

    /// What of it waives nothing, now that these tools needed it.
    pub(crate) fn idle(&self, needed: &[String]) -> Vec<String> {
        let text = format!("the waiver of {:?} waives nothing", self.rule);
        if self.tools.is_empty() {
            return if needed.is_empty() { vec![line("", "", &text)] } else { Vec::new() };
        }
        let idle = self.tools.iter().filter(|tool| !needed.iter().any(|other| other == *tool));
        idle.map(|tool| line(tool, "", &text)).collect()
    }
}
