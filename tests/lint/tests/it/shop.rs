//! A list without a fault, and what becomes of it.

use catalog_lint::{Budget, Id, Policy, Rule, faults};
use serde_json::{Value, json};

pub const POLICY: Policy = Policy {
    server: "shop",
    ids: &[
        Id { name: "book_id", lives: "The id lives until delete_book" },
        Id { name: "order_id", lives: "An order_id lives for 30 days" },
        Id { name: "cursor", lives: "A cursor is good for an hour" },
    ],
    open_world: &["order_book"],
    says: &[("create_book", "counts against the plan's books")],
    budget: Budget { tokens: 1_000, largest: 300, list_bytes: 6_000, ..Policy::STRICT.budget },
    ..Policy::STRICT
};

/// Places of tools in the list.
pub const LIST: &str = "/0";
pub const CREATE: &str = "/1";
pub const UPDATE: &str = "/2";
pub const DELETE: &str = "/3";

/// Five tools to which no rule objects.
pub fn shop() -> Vec<Value> {
    let book_id = json!({ "type": "string", "description": "The book's id, as list_books gives it.", "pattern": "^b-[0-9a-f]{8}$" });
    let title = json!({ "type": "string", "description": "What is on its cover.", "minLength": 1, "maxLength": 1999 });
    let id = json!({ "type": "string", "description": "Its id: b- and 8 letters." });
    let book = json!({ "id": id, "title": { "description": "What is on its cover; or null." } });
    vec![
        tool(
            "list_books",
            "Answers one page of the books on the shelves, newest first. A cursor is good for an hour.",
            json!({
                "limit": { "type": "integer", "description": "How many books at most. 50 when left out.", "minimum": 1, "maximum": 100 },
                "shelf": { "type": "string", "description": "Only the books of this shelf. Left out, all.", "enum": ["north", "south"] },
                "cursor": { "type": "string", "description": "The next_cursor of the page before.", "maxLength": 512 },
            }),
            json!({
                "books": { "type": "array", "description": "The books.", "items": { "type": "object", "properties": book, "required": ["id"] } },
                "next_cursor": { "description": "For the next page.", "anyOf": [{ "type": "string" }, { "type": "null" }] },
            }),
            [true, false, true, false],
        ),
        tool(
            "create_book",
            "Adds a book and answers its id, which counts against the plan's books. The id lives until delete_book.",
            json!({
                "title": title,
                "tags": { "type": "array", "description": "Words to find it by.", "items": { "type": "string" }, "maxItems": 20 },
                "facts": { "type": "object", "description": "Whatever else is known of it.", "additionalProperties": true },
            }),
            json!({ "id": id }),
            [false, false, false, false],
        ),
        tool(
            "update_book",
            "Changes a book and answers it. The new title replaces the one it had; what is left out stays.",
            json!({ "book_id": book_id, "title": title }),
            book,
            [false, true, true, false],
        ),
        tool(
            "delete_book",
            "Deletes a book for good and answers its id. Orders that were made of it before stay as they are.",
            json!({ "book_id": book_id }),
            json!({ "book_id": id }),
            [false, true, true, false],
        ),
        tool(
            "order_book",
            "Orders a book at its publisher by mail and answers the order. An order_id lives for 30 days.",
            json!({ "book_id": book_id }),
            json!({ "order_id": { "type": "string", "description": "The order's id." } }),
            [false, false, false, true],
        ),
    ]
}

fn tool(name: &str, description: &str, input: Value, output: Value, hints: [bool; 4]) -> Value {
    let title = "A tool of the shop";
    let first = |properties: &Value| json!([properties.as_object().unwrap().keys().next_back().unwrap()]);
    let mut tool = json!({
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": { "type": "object", "properties": input, "additionalProperties": false },
        "outputSchema": { "type": "object", "properties": output, "required": first(&output) },
        "annotations": {
            "title": title, "readOnlyHint": hints[0], "destructiveHint": hints[1], "idempotentHint": hints[2], "openWorldHint": hints[3],
        },
    });
    if name != "list_books" {
        let required = input.as_object().unwrap().keys().next().unwrap();
        tool["inputSchema"]["required"] = json!([required]);
    }
    tool
}

/// The shop with something else at one place.
pub fn with(place: &str, value: Value) -> Vec<Value> {
    let mut tools = Value::Array(shop());
    let (parent, name) = place.rsplit_once('/').unwrap();
    let parent = tools.pointer_mut(parent).unwrap_or_else(|| panic!("nothing at {place}"));
    match (parent, value) {
        (Value::Object(members), Value::Null) => drop(members.shift_remove(name)),
        (Value::Object(members), value) => drop(members.insert(name.to_owned(), value)),
        (parent, _) => panic!("{parent} at {place}"),
    }
    match tools {
        Value::Array(tools) => tools,
        _ => unreachable!("it was an array"),
    }
}

/// The faults that one rule finds under a policy.
pub fn found_under(policy: &Policy, rule: Rule, tools: &[Value]) -> Vec<String> {
    let end = format!(" ({rule:?})");
    faults(tools, policy).into_iter().filter(|line| line.ends_with(&end)).collect()
}

/// The rule finds one fault once this value stands at this place; `null` takes away what is there.
#[track_caller]
pub fn fires(rule: Rule, place: &str, value: Value) -> String {
    let found = found_under(&POLICY, rule, &with(place, value.clone()));
    assert!(!found.is_empty(), "{rule:?} does not mind {value} at {place}");
    found.join("\n")
}

/// No rule at all finds a fault with this value at this place.
#[track_caller]
pub fn silent(place: &str, value: Value) {
    assert_eq!(faults(&with(place, value.clone()), &POLICY), Vec::<String>::new(), "{value} at {place}");
}

#[test]
fn a_good_list_has_no_fault() {
    assert_eq!(faults(&shop(), &POLICY), Vec::<String>::new());
}
