//! Ids: known, told how long they live and where they come from.

use catalog_lint::{Id, Policy, Rule};
use serde_json::json;

use crate::shop::{CREATE, DELETE, POLICY, UPDATE, fires, found_under, shop, silent};

#[test]
fn a_kind_of_id_is_known_to_the_policy_and_to_the_tools() {
    let text = json!({ "type": "string", "description": "The shelf's id, as list_books gives it." });
    fires(Rule::IdKinds, &format!("{CREATE}/inputSchema/properties/shelf_id"), text.clone());
    fires(Rule::IdKinds, &format!("{CREATE}/outputSchema/properties/shelfId"), text.clone());
    silent(&format!("{CREATE}/outputSchema/properties/paid"), text);
    let forgotten = Policy { ids: &[Id { name: "ghost_id", lives: "newest first" }], ..POLICY };
    let found = found_under(&forgotten, Rule::IdKinds, &shop());
    assert!(found.iter().any(|line| line.contains("a ghost_id that no tool")), "{found:?}");
}

#[test]
fn how_long_an_id_lives_is_said_somewhere() {
    let unsaid = Policy { ids: &[Id { name: "book_id", lives: "The id lives until the shop burns" }], ..POLICY };
    assert_eq!(found_under(&unsaid, Rule::IdLifetimes, &shop()).len(), 1);
}

#[test]
fn an_id_that_is_asked_for_names_a_tool_that_gives_it() {
    let place = format!("{UPDATE}/inputSchema/properties/book_id/description");
    fires(Rule::IdSources, &place, json!("The book's id."));
    fires(Rule::IdSources, &place, json!("The book's id, as update_book has it."));
    silent(&place, json!("The id that create_book answered."));
    silent(&format!("{DELETE}/outputSchema/properties/book_id/description"), json!("The book's id."));
}
