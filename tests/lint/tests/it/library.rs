//! The library of books, under the ruling of each product.

use catalog_lint::{Budget, Policy, Rule, Waiver, check};
use library::client::{Era, META_SERVER};
use serde_json::{Value, json};

const TERSE: &str = "a fixture's tools say little, so that its tests are read at a glance";
const ODD: &str = "it is there so that the core is seen to check what it advertises";

/// A waiver for every tool or some.
const fn waive(rule: Rule, tools: &'static [&'static str], because: &'static str) -> Waiver {
    Waiver { rule, tools, because }
}

const WAIVERS: &[Waiver] = &[
    waive(Rule::Description, &[], TERSE),
    waive(Rule::SaysResult, &[], TERSE),
    waive(Rule::SaysLoss, &["lend_book", "burn_book"], TERSE),
    waive(Rule::SaysDefault, &["list_books", "add_book", "burn_book"], TERSE),
    waive(Rule::IdKinds, &["lend_book", "burn_book", "show_card"], TERSE),
    waive(Rule::IdSources, &["lend_book", "burn_book"], TERSE),
    waive(Rule::Keywords, &["add_book"], ODD),
    waive(Rule::Types, &["add_book"], ODD),
];

const POLICY: Policy = Policy {
    server: "library",
    open_arguments: &["ask_librarian"],
    open_world: &["ask_librarian", "order_book"],
    budget: Budget { tools: 16, tokens: 1_200, largest: 250, list_bytes: 12_000, description: 100 },
    waivers: WAIVERS,
    ..Policy::STRICT
};

#[test]
fn the_library_keeps_to_the_rules_in_every_ruling() {
    for (like, door) in library::every_kind() {
        let listed = door.ask(Era::Modern, "tools/list", json!({})).send().result();
        assert!(listed["_meta"][META_SERVER].is_object(), "the newest version was asked");
        let Value::Array(tools) = &listed["tools"] else { panic!("no list like {like}") };
        // The ruling of rent and viewer differs in how refusals are told.
        check(tools, &Policy { refusals_are_results: like == "rent", ..POLICY });
    }
}
