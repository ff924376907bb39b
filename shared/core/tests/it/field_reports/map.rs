//! Tables in comments that say where tests stand, and the tests that really stand there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Where each kind of test lives, by the word that tables begin a place with.
const FOLDERS: [(&str, &str); 5] = [
    ("core", "shared/core/tests/it"),
    ("cloud", "shared/cloud/tests/it"),
    ("checklists", "functions/checklists/tests/it"),
    ("local", "local/tests/it"),
    ("stack", "tests/it"),
];

/// A row of a table: what it is about, and the places that it names.
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) places: Vec<String>,
    /// The whole last cell.
    pub(crate) text: String,
}

/// The rows of the tables in the comment at the head of a file, but for their heads.
pub(crate) fn rows(source: &str) -> impl Iterator<Item = Row> {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let cells = lines.filter_map(|line| line.trim().strip_prefix('|')?.strip_suffix('|').map(str::to_owned));
    let bodies = cells.collect::<Vec<String>>().into_iter().skip_while(|row| !row.contains("---")).skip(1);
    bodies.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let text = cells.last().copied().unwrap_or_default();
        let places = text.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        Row { what: cells.first().copied().unwrap_or_default().to_owned(), places, text: text.to_owned() }
    })
}

/// Every test of this repository with the comment above it, by its place: `core transport::a_test`.
pub(crate) fn tests_of_the_workspace() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut tests = BTreeMap::new();
    for (word, folder) in FOLDERS {
        let folder = root.join(folder);
        let mut files = Vec::new();
        sources(&folder, &mut files);
        assert!(!files.is_empty(), "{} has no tests", folder.display());
        for file in files {
            let module = file.strip_prefix(&folder).expect("it was found there").with_extension("");
            let module = module.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("::");
            let module = module.strip_suffix("::mod").unwrap_or(&module);
            for (name, comment) in tests_in(&fs::read_to_string(&file).unwrap()) {
                tests.insert(format!("{word} {module}::{name}"), comment);
            }
        }
    }
    tests
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// The tests of one file, each with its comment. A comment over anything else is nobody's.
fn tests_in(source: &str) -> Vec<(String, String)> {
    let (mut tests, mut comment, mut is_test) = (Vec::new(), String::new(), false);
    for line in source.lines().map(str::trim) {
        if let Some(more) = line.strip_prefix("///") {
            comment.push_str(more);
            comment.push('\n');
        } else if line.starts_with("#[") {
            is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
            // Such a test runs only where another one starts it.
            is_test &= !line.starts_with("#[ignore");
        } else {
            let name = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ").and_then(|rest| rest.split_once('('));
            if let (Some((name, _)), true) = (name, is_test) {
                tests.push((name.to_owned(), comment.clone()));
            }
            comment.clear();
            is_test = false;
        }
    }
    tests
}

/// The cases that a text names: every `D` with digits that is a word of its own.
pub(crate) fn cases_in(text: &str) -> BTreeSet<u32> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter_map(|word| word.strip_prefix('D')?.parse().ok()).collect()
}

#[test]
fn only_the_comment_of_a_test_names_its_case() {
    let source = "/// D1\nfn not_a_test() {}\n\n/// D3, D5: so\n#[test]\nfn a() {}\n#[test]\nfn b() {\n// D7\n}\n/// D9\n#[tokio::test]\nasync fn c() {}\n/// D11\n#[test]\n#[ignore]\nfn d() {}";
    let found: Vec<(String, BTreeSet<u32>)> = tests_in(source).into_iter().map(|(name, comment)| (name, cases_in(&comment))).collect();
    assert_eq!(found, [("a".to_owned(), [3, 5].into()), ("b".to_owned(), [].into()), ("c".to_owned(), [9].into())]);
    assert_eq!(cases_in("D1, D23: AD5 D7x, (D9) E1"), [1, 23, 9].into());
}
