//! Ids of sections, steps and options: their form, and filling in the missing ones.

use std::collections::HashSet;

use crate::template::Template;

/// Tries before the generator is given up. A random one of three characters (46,656 codes) meets a free code at once.
const MAX_TRIES: usize = 100;

/// What an id is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IdKind {
    /// A section: `g-…`.
    Section,
    /// A step: `s-…`.
    Step,
    /// An option: `o-…`.
    Option,
}

impl IdKind {
    /// What ids of this kind begin with.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Section => "g-",
            Self::Step => "s-",
            Self::Option => "o-",
        }
    }

    /// Whether a text is an id of this kind: the prefix and 3 to 12 lower-case letters or digits.
    pub fn matches(self, text: &str) -> bool {
        text.strip_prefix(self.prefix()).is_some_and(|code| {
            (3..=12).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        })
    }
}

/// Gives an id to every section, step and option that has none.
pub(super) fn fill_in(template: &mut Template, new_id: &mut dyn FnMut(IdKind) -> String) {
    let mut taken: HashSet<String> = HashSet::new();
    visit(template, &mut |_, id| {
        taken.insert(id.clone());
    });
    visit(template, &mut |kind, id| {
        if id.is_empty() {
            *id = free_id(kind, &taken, new_id);
            taken.insert(id.clone());
        }
    });
}

fn visit(template: &mut Template, each: &mut dyn FnMut(IdKind, &mut String)) {
    for section in template.sections.iter_mut().flatten() {
        each(IdKind::Section, &mut section.id);
        for step in &mut section.steps {
            each(IdKind::Step, &mut step.id);
            for option in step.kind.options_mut() {
                each(IdKind::Option, &mut option.id);
            }
        }
    }
}

fn free_id(kind: IdKind, taken: &HashSet<String>, new_id: &mut dyn FnMut(IdKind) -> String) -> String {
    let is_free = |id: &String| kind.matches(id) && !taken.contains(id);
    (0..MAX_TRIES)
        .map(|_| new_id(kind))
        .find(is_free)
        // A generator that repeats itself must not hang the server: count up instead.
        .or_else(|| (0..=taken.len()).map(|count| format!("{}{count:03}", kind.prefix())).find(is_free))
        .expect("of one more code than there are ids, one is free")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ids_have_their_prefix_and_three_to_twelve_plain_characters() {
        for good in ["s-abc", "s-0a1", "s-abcdefghijkl"] {
            assert!(IdKind::Step.matches(good), "{good}");
        }
        for bad in ["", "s-", "s-ab", "s-abcdefghijklm", "s-ABC", "s-a_c", "g-abc", "s-äbc", " s-abc", "s-abc\n"] {
            assert!(!IdKind::Step.matches(bad), "{bad}");
        }
    }

    #[test]
    fn missing_ids_are_asked_for_until_a_free_one_comes() {
        let document = json!({ "name": "n", "steps": [
            { "id": "s-aaa", "type": "boolean", "label": "given" },
            { "type": "boolean", "label": "missing" }
        ]});
        let mut candidates = ["g-aaa", "s-aaa", "s-AAA", "g-bbb", "s-bbb"].into_iter();
        let template = Template::from_document(document, &mut |_| candidates.next().unwrap().to_owned()).unwrap();
        let ids: Vec<&str> = template.steps().map(|(_, step)| step.id.as_str()).collect();
        assert_eq!(template.sections()[0].id, "g-aaa");
        assert_eq!(ids, ["s-aaa", "s-bbb"]);
        assert_eq!(candidates.next(), None);
    }

    #[test]
    fn a_generator_that_repeats_itself_does_not_hang() {
        let steps: Vec<_> = (0..50).map(|_| json!({ "type": "photo", "label": "l" })).collect();
        let document = json!({ "name": "n", "steps": steps });
        let template = Template::from_document(document, &mut |kind| format!("{}same", kind.prefix())).unwrap();
        let ids: HashSet<&str> = template.steps().map(|(_, step)| step.id.as_str()).collect();
        assert_eq!(ids.len(), 50);
        assert!(ids.iter().all(|id| IdKind::Step.matches(id)));
    }
}
