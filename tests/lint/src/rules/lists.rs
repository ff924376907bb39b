//! Rules about the list as a whole.

use std::collections::HashSet;

use super::Findings;
use crate::catalog::Catalog;
use crate::size::{list_bytes, size_of, size_of_all};

/// What OpenAI, Anthropic and Gemini take as the name of a function.
const MOST_OF_A_FUNCTION: usize = 64;

/// What Cursor takes of server and tool together.
const MOST_IN_CURSOR: usize = 60;

/// Lower-case words joined by `_`, as OpenAI (`^[a-zA-Z0-9_-]+$`), Anthropic and Gemini (a letter first) all take them,
/// and short enough behind the prefixes of clients: Claude Code writes `mcp__{server}__{tool}` and, for a plugin, 28
/// characters and more (thedotmack/claude-mem#360); 64 is the most that providers take (microsoft/vscode#243602), and
/// Cursor drops a tool whose server and name have more than 60 (awslabs/mcp#1283). Dots and blanks are refused
/// (hostinger/api-mcp-server#49, openai/codex#8174).
pub(super) fn tool_names(catalog: &Catalog<'_>, findings: &mut Findings) {
    let policy = catalog.policy;
    let mut seen = HashSet::new();
    for tool in &catalog.tools {
        let words = tool.verb_noun.split('_');
        let is_word = |word: &str| !word.is_empty() && word.bytes().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit());
        if !words.clone().all(is_word) || !tool.name.starts_with(|first: char| first.is_ascii_lowercase()) {
            findings.tool(tool, "the name is not made of lower-case words joined by _ (OpenAI, Anthropic, Gemini)");
        }
        if !tool.name.starts_with(policy.prefix) {
            findings.tool(tool, format!("the name does not begin with {}", policy.prefix));
        }
        let behind_claude = "mcp____".len() + policy.server.len() + tool.name.len();
        if tool.name.len() > 36 || behind_claude > MOST_OF_A_FUNCTION || policy.server.len() + tool.name.len() > MOST_IN_CURSOR {
            findings.tool(tool, "the name has more than 36 characters, or does not fit behind the server's (Claude Code, Cursor)");
        }
        if !seen.insert(tool.name) {
            findings.tool(tool, "another tool has this name");
        }
    }
}

/// A list that is too long is cut by clients (Cursor: 40 tools, anyproto/anytype-mcp#5; OpenAI, VS Code: 128,
/// microsoft/vscode-copilot-release#11653), and what a model reads it reads on every request.
pub(super) fn budget(catalog: &Catalog<'_>, findings: &mut Findings) {
    let budget = &catalog.policy.budget;
    let mut over = |what: &str, is: usize, may: usize| {
        if is > may {
            findings.list(format!("{is} {what}, and the budget is {may}"));
        }
    };
    over("tools", catalog.tools.len(), budget.tools);
    over("tokens", size_of_all(catalog.raw).tokens(), budget.tokens);
    over("bytes", list_bytes(catalog.raw), budget.list_bytes);
    for tool in &catalog.tools {
        let tokens = size_of(tool.raw).tokens();
        if tokens > budget.largest {
            findings.tool(tool, format!("{tokens} tokens, and the budget of one tool is {}", budget.largest));
        }
    }
}
