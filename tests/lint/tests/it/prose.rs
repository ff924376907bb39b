//! What tools and properties say of themselves.

use catalog_lint::{Policy, Rule};
use serde_json::json;

use crate::shop::{CREATE, DELETE, LIST, POLICY, UPDATE, fires, found_under, shop, silent};

const TITLE: &str = "/1/inputSchema/properties/title/description";
const GOOD: &str = "Adds a book and answers its id, which counts against the plan's books. The id lives until delete_book.";

/// The good description and something more.
fn and(more: &str) -> serde_json::Value {
    json!(format!("{GOOD} {more}"))
}

#[test]
fn a_description_is_neither_a_title_nor_an_essay() {
    fires(Rule::Description, &format!("{CREATE}/description"), json!(null));
    fires(Rule::Description, &format!("{CREATE}/description"), json!("Adds a book and answers it."));
    fires(Rule::Description, &format!("{CREATE}/description"), and(&"More of it. ".repeat(30)));
    let generous = Policy { budget: catalog_lint::Budget { description: 5_000, ..POLICY.budget }, ..POLICY };
    let essay = crate::shop::with(&format!("{CREATE}/description"), and(&"More of it. ".repeat(90)));
    assert_eq!(found_under(&generous, Rule::Description, &essay).len(), 1, "what OpenAI refuses no budget allows");
}

#[test]
fn every_property_says_what_it_is() {
    fires(Rule::PropertyDescriptions, TITLE, json!(null));
    fires(Rule::PropertyDescriptions, TITLE, json!("Title."));
    fires(Rule::PropertyDescriptions, &format!("{LIST}/outputSchema/properties/books/items/properties/id/description"), json!(null));
    silent(TITLE, json!("A title."));
}

#[test]
fn texts_end_with_a_full_stop() {
    fires(Rule::FullStops, &format!("{CREATE}/description"), and("And then"));
    fires(Rule::FullStops, TITLE, json!("What is on its cover"));
    fires(Rule::FullStops, TITLE, json!("What is on its cover, "));
}

#[test]
fn nobody_speaks_in_the_first_person_or_praises_or_shouts() {
    for more in ["We keep it.", "This is our book.", "I keep it.", "It simply works.", "IMPORTANT: call it first.", "You MUST call it."] {
        fires(Rule::Voice, &format!("{CREATE}/description"), and(more));
    }
    fires(Rule::Voice, TITLE, json!("Please give a title."));
    for more in ["It is in the west, us-east-1 or my-shop.", "A must for readers.", "The I-beam of the HTTP API."] {
        silent(&format!("{CREATE}/description"), and(more));
    }
}

#[test]
fn texts_are_plain() {
    for more in ["\n# Usage\nCall it.", "```json```", "It is **bold**.", "Hid\u{200b}den.", "\u{202e}Turned.", "Tag\u{e0041}.", "A tab\t."]
    {
        fires(Rule::Plain, &format!("{CREATE}/description"), and(more));
    }
    for more in ["Number #1 of 2 * 3.", "An em — dash, “quotes” and an emoji 📚.", "A\nnew line."] {
        silent(&format!("{CREATE}/description"), and(more));
    }
}

#[test]
fn a_tool_says_what_comes_back() {
    let silent_one = "Changes a book: the title replaces the one it had; what is left out stays as it is. No answer is given away.";
    fires(Rule::SaysResult, &format!("{UPDATE}/description"), json!(silent_one));
    silent(&format!("{UPDATE}/description"), json!(format!("{silent_one} Returns the book.")));
}

#[test]
fn a_destructive_tool_says_what_is_lost() {
    let trivial = "Deletes a book and answers its id. Orders that were made of it before stay as they are.";
    fires(Rule::SaysLoss, &format!("{DELETE}/description"), json!(trivial));
    fires(Rule::SaysLoss, &format!("{CREATE}/annotations/destructiveHint"), json!(true));
    silent(&format!("{DELETE}/description"), json!(format!("{trivial} Its notes are lost.")));
}

#[test]
fn an_optional_choice_or_number_says_what_holds_without_it() {
    fires(Rule::SaysDefault, &format!("{LIST}/inputSchema/properties/limit/description"), json!("How many books at most."));
    fires(Rule::SaysDefault, &format!("{LIST}/inputSchema/properties/shelf/description"), json!("Only the books of this shelf."));
    fires(
        Rule::SaysDefault,
        &format!("{CREATE}/inputSchema/properties/rare"),
        json!({ "type": "boolean", "description": "Whether it is rare." }),
    );
    silent(
        &format!("{CREATE}/inputSchema/properties/rare"),
        json!({ "type": "boolean", "description": "Whether it is rare. Not by default." }),
    );
}

#[test]
fn what_the_policy_wants_said_is_said() {
    fires(Rule::SaysFacts, &format!("{CREATE}/description"), json!(GOOD.replace("plan", "shop")));
    let unknown = Policy { says: &[("ghost", "boo")], ..POLICY };
    assert_eq!(found_under(&unknown, Rule::SaysFacts, &shop()).len(), 1);
}

#[test]
fn a_tool_that_is_named_exists() {
    fires(Rule::NamesTools, &format!("{CREATE}/description"), and("See list_shelves."));
    fires(Rule::NamesTools, TITLE, json!("What update_cover has set."));
    silent(&format!("{CREATE}/description"), and("Not next_cursor, no book_not_found, see list_books."));
    let prefixed = Policy { prefix: "shop_", ..POLICY };
    let found = found_under(&prefixed, Rule::NamesTools, &crate::shop::with(TITLE, json!("What shop_ghost_story says.")));
    assert_eq!(found.len(), 1, "{found:?}");
}
