//! Collecting violations, and where they are.

use super::{MAX_VIOLATIONS, Violation};

/// Longest piece of the caller's text that is repeated to them, in characters.
const MAX_ECHO_CHARS: usize = 60;

/// The violations found so far.
#[derive(Debug, Default)]
pub(super) struct Report {
    listed: Vec<Violation>,
    left_out: usize,
}

impl Report {
    /// Adds a violation. The message is only made for those that are listed.
    pub(super) fn add(&mut self, path: &Path<'_>, rule: &str, message: impl FnOnce() -> String) {
        if self.listed.len() == MAX_VIOLATIONS {
            self.left_out += 1;
            return;
        }
        self.listed.push(Violation { pointer: path.to_string(), rule: rule.to_owned(), message: message(), faults: 1 });
    }

    pub(super) fn is_clean(&self) -> bool {
        self.listed.is_empty()
    }

    /// How many violations there are, listed or not: what is sound adds none.
    pub(super) fn count(&self) -> usize {
        self.listed.len() + self.left_out
    }

    pub(super) fn into_violations(self) -> Vec<Violation> {
        let mut violations = self.listed;
        if self.left_out > 0 {
            violations.push(Violation {
                pointer: String::new(),
                rule: "more".to_owned(),
                message: match self.left_out {
                    1 => "Correct these first; 1 more is not listed.".to_owned(),
                    count => format!("Correct these first; {count} more are not listed."),
                },
                faults: self.left_out,
            });
        }
        violations
    }
}

/// A place in a document. It lives on the stack of the reader and becomes text only for a violation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    segment: Segment<'p>,
}

#[derive(Clone, Copy, Debug)]
enum Segment<'p> {
    Root,
    Member(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    pub(super) const fn root() -> Self {
        Self { parent: None, segment: Segment::Root }
    }

    pub(super) const fn member(&'p self, name: &'p str) -> Self {
        Self { parent: Some(self), segment: Segment::Member(name) }
    }

    pub(super) const fn index(&'p self, index: usize) -> Self {
        Self { parent: Some(self), segment: Segment::Index(index) }
    }

    /// What a message calls this place.
    pub(super) fn subject(&self) -> String {
        match (self.segment, self.parent) {
            (Segment::Member(name), _) => quote(name),
            (Segment::Index(index), Some(list)) => format!("item {} of {}", index + 1, list.subject()),
            (Segment::Index(_) | Segment::Root, _) => "the template".to_owned(),
        }
    }
}

impl std::fmt::Display for Path<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(parent) = self.parent {
            write!(formatter, "{parent}")?;
        }
        match self.segment {
            Segment::Root => Ok(()),
            Segment::Member(name) => write!(formatter, "/{}", cut(name).replace('~', "~0").replace('/', "~1")),
            Segment::Index(index) => write!(formatter, "/{index}"),
        }
    }
}

/// A caller's text in quotes, short and without control characters.
pub(super) fn quote(text: &str) -> String {
    let plain = |character: char| if character.is_control() { ' ' } else { character };
    format!("\"{}\"", cut(text).chars().map(plain).collect::<String>())
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_ECHO_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_escapes_what_rfc_6901_reserves() {
        let root = Path::root();
        let odd = root.member("a/b~c");
        assert_eq!(odd.index(3).to_string(), "/a~1b~0c/3");
        assert_eq!(root.to_string(), "");
    }

    #[test]
    fn a_callers_text_is_repeated_short_and_tame() {
        let long = "é".repeat(10_000);
        assert_eq!(quote(&long).chars().count(), 63);
        assert_eq!(quote("line\nbreak\u{1b}[2J"), "\"line break [2J\"");
        assert!(Path::root().member(&long).to_string().len() < 130);
    }

    #[test]
    fn beyond_a_hundred_violations_only_their_number_is_told() {
        let mut report = Report::default();
        for index in 0..250 {
            report.add(&Path::root().index(index), "type", || "Change it.".to_owned());
        }
        let violations = report.into_violations();
        assert_eq!(violations.len(), 101);
        assert_eq!(violations[100].rule, "more");
        assert!(violations[100].message.contains("150"), "{}", violations[100].message);
    }
}
