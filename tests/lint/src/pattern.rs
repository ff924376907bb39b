//! The part of regular expressions that every reader of a `pattern` knows.
//!
//! One list of tools meets ECMAScript (the specification's dialect), Python's `re` (which OpenAI compiles patterns
//! with), Rust's `regex` (which this server checks with) and the grammars of llama.cpp (which LM Studio and Ollama stand
//! on), where one pattern that does not compile takes down every tool of every server in the request.

/// What of a pattern somebody does not read.
pub(crate) fn fault(pattern: &str) -> Option<String> {
    let before = pattern.strip_suffix('$').unwrap_or_default();
    let escaped = before.chars().rev().take_while(|letter| *letter == '\\').count() % 2 == 1;
    if !before.starts_with('^') || escaped {
        return Some("it does not run from ^ to $, which llama.cpp demands (ggml-org/llama.cpp#22314)".into());
    }
    let inside: Vec<char> = before[1..].chars().collect();
    let (mut at, mut in_class, mut groups) = (0, false, 0_usize);
    while let Some(&letter) = inside.get(at) {
        match letter {
            '\\' => match escape(&inside[at..], in_class) {
                Ok(length) => at += length - 1,
                Err(reason) => return Some(reason),
            },
            '[' if !in_class => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => {
                if inside.get(at + 1) == Some(&'?') {
                    return Some(
                        "a group that begins with (? : OpenAI and llama.cpp refuse look-around, and the dialects spell the others differently \
                         (cline/cline#14019, codefuturist/email-mcp#72)"
                            .into(),
                    );
                }
                groups += 1;
            }
            ')' if !in_class => groups = groups.saturating_sub(1),
            '|' if !in_class && groups == 0 => return Some("an alternative outside a group is anchored on one side only".into()),
            '^' | '$' if !in_class => return Some("an anchor inside, which llama.cpp cannot express".into()),
            '{' if !in_class => {
                let bounds: String = inside[at + 1..].iter().take_while(|letter| **letter != '}').collect();
                let too_large = |bound: &str| bound.parse::<u32>().is_ok_and(|bound| bound >= super::rules::REPETITIONS);
                if bounds.split(',').any(too_large) {
                    return Some("2,000 repetitions or more, which llama.cpp refuses (ggml-org/llama.cpp#27087)".into());
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// How long the escape at the beginning is, if all dialects read it alike.
fn escape(text: &[char], in_class: bool) -> Result<usize, String> {
    let hex = |digits: usize| text.len() >= digits + 2 && text[2..digits + 2].iter().all(char::is_ascii_hexdigit);
    match text.get(1) {
        Some('t' | 'r' | 'n' | '\\' | '[' | ']') => Ok(2),
        Some('^' | '$' | '.' | '(' | ')' | '{' | '}' | '|' | '*' | '+' | '?') if !in_class => Ok(2),
        Some('x') if hex(2) => Ok(4),
        Some('u') if hex(4) => Ok(6),
        other => Err(format!(
            "the escape \\{}: write the characters out; llama.cpp knows no \\d, \\w, \\s, \\b, OpenAI no \\p (ggml-org/llama.cpp#27580, \
             BerriAI/litellm#40485)",
            other.copied().unwrap_or_default()
        )),
    }
}
