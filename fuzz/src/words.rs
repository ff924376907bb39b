//! The words that the protocol and the tools know, and some that nobody does.

use crate::exchange::FRIEND;

/// Versions, served and not.
pub const VERSIONS: [&str; 8] =
    ["2025-06-18", "2026-07-28", "2025-03-26", "2025-11-25", "2024-11-05", "2024-10-07", "2099-01-01", "2025-6-18"];

/// Methods, served and not.
pub const METHODS: [&str; 14] = [
    "tools/call",
    "tools/call",
    "tools/call",
    "tools/list",
    "initialize",
    "ping",
    "server/discover",
    "notifications/initialized",
    "notifications/cancelled",
    "prompts/get",
    "resources/read",
    "logging/setLevel",
    "subscriptions/listen",
    "nothing/<b>",
];

/// The tools, and one that is none.
pub const TOOLS: [&str; 17] = [
    "list_books",
    "count_books",
    "add_book",
    "lend_book",
    "burn_book",
    "ask_librarian",
    "show_cover",
    "show_card",
    "print_catalogue",
    "dust_shelves",
    "move_shelf",
    "order_book",
    "sign_register",
    "enter_vault",
    "recite_lines",
    "wait_for_bell",
    "no_such_tool",
];

/// Headers that the server looks at, each with values worth sending.
pub const HEADERS: [(&str, &[&str]); 14] = [
    ("mcp-protocol-version", &VERSIONS),
    ("mcp-method", &METHODS),
    ("mcp-name", &TOOLS),
    (
        "authorization",
        &[
            "Bearer {good}",
            "bearer  {other}",
            "Bearer {revoked}",
            "Bearer {token}",
            "Bearer {librarian}",
            "Bearer",
            "Basic {good}",
            "{good}",
            "Bearer {good} x",
        ],
    ),
    (
        "content-type",
        &[
            "application/json",
            "Application/JSON; charset=UTF-8",
            "application/json; charset=latin1",
            "text/plain",
            "application/json, text/plain",
        ],
    ),
    ("content-encoding", &["identity", "gzip", "identity, gzip", ""]),
    ("accept", &["text/event-stream, application/json", "application/json", "*/*"]),
    ("origin", &[FRIEND, "http://localhost:5173", "null", "https://evil.example", "http://localhost.evil.example", "http://[::1]"]),
    ("mcp-session-id", &["1"]),
    ("last-event-id", &["1"]),
    ("x-panic", &["1"]),
    ("mcp-param-limit", &["1"]),
    ("x-forwarded-for", &["127.0.0.1"]),
    ("content-length", &["3"]),
];

/// Ids as JSON text, usable and not.
pub const IDS: [&str; 16] = [
    "1",
    "0",
    "-7",
    "\"a\"",
    "\"\\u00e9\\n\"",
    "18446744073709551616",
    "123456789012345678901234567890",
    "\"\"",
    "null",
    "1.0",
    "1e3",
    "true",
    "[]",
    "{\"a\":1,\"a\":2}",
    "\"<b>\\\"\"",
    "-0",
];

/// Texts that somebody trips over.
pub const ODD_TEXTS: [&str; 32] = [
    "",
    " ",
    "null",
    "true",
    "0",
    "5",
    "5.0",
    "-0.0",
    "1e3",
    "1e999",
    "[]",
    "{}",
    "{\"a\":1}",
    "[\"x\",\"x\"]",
    "{\"a\":1,\"a\":2}",
    "<script>alert(1)</script>",
    "\"quoted\"",
    "it's",
    "a\nb",
    "\u{0}",
    "\u{7f}",
    "\u{85}",
    "\u{202e}x",
    "\u{feff}",
    "é",
    "📚",
    "e\u{301}",
    "__proto__",
    "../..",
    "bk-1",
    "bk-999999999",
    "0123456789012345678901234567890123456789012345678901234567890123456789",
];

/// Names of members that the protocol and the tools know.
pub const NAMES: [&str; 24] = [
    "jsonrpc",
    "id",
    "method",
    "params",
    "name",
    "arguments",
    "_meta",
    "cursor",
    "result",
    "error",
    "inputResponses",
    "requestState",
    "progressToken",
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/logLevel",
    "protocolVersion",
    "capabilities",
    "clientInfo",
    "elicitation",
    "title",
    "limit",
    "a/b~c",
    "uri",
];

/// Patterns that mean the same in every dialect of regular expressions: choosing such ones is a matter of taste, not of
/// checking.
pub const PATTERNS: [&str; 5] = ["^[^\\x00-\\x1f\\x7f]+$", "^a[a-z]c$", "[0-9]", "^(a|b)*$", "^[^ ]+$"];
