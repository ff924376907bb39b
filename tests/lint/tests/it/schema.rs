//! The shape of schemas.

use catalog_lint::{Case, Outputs, Policy, Rule};
use serde_json::json;

use crate::shop::{CREATE, DELETE, LIST, POLICY, UPDATE, fires, found_under, shop, silent, with};

const TITLE: &str = "/1/inputSchema/properties/title";
const TAGS: &str = "/1/inputSchema/properties/tags";
const FACTS: &str = "/1/inputSchema/properties/facts";

#[test]
fn both_schemas_are_objects_with_properties() {
    for (place, value) in [
        ("inputSchema", json!(null)),
        ("outputSchema", json!(null)),
        ("inputSchema/type", json!(null)),
        ("outputSchema/type", json!("array")),
        ("inputSchema/properties", json!(null)),
        ("outputSchema/properties", json!([])),
    ] {
        fires(Rule::Roots, &format!("{CREATE}/{place}"), value);
    }
    let without = with(&format!("{CREATE}/outputSchema"), json!(null));
    assert_eq!(found_under(&Policy { outputs: Outputs::Some, ..POLICY }, Rule::Roots, &without), Vec::<String>::new());
}

#[test]
fn arguments_are_closed_and_results_open() {
    fires(Rule::Roots, &format!("{CREATE}/inputSchema/additionalProperties"), json!(null));
    fires(Rule::Roots, &format!("{CREATE}/inputSchema/additionalProperties"), json!(true));
    fires(Rule::Roots, &format!("{CREATE}/outputSchema/additionalProperties"), json!(false));
    let passes_on = Policy { open_arguments: &["create_book"], ..POLICY };
    let open = with(&format!("{CREATE}/inputSchema/additionalProperties"), json!(null));
    assert_eq!(found_under(&passes_on, Rule::Roots, &open), Vec::<String>::new());
    assert_eq!(found_under(&passes_on, Rule::Roots, &shop()).len(), 1, "a tool that was opened in the policy alone");
}

#[test]
fn a_result_requires_something_unless_it_may_be_a_refusal() {
    fires(Rule::Roots, &format!("{CREATE}/outputSchema/required"), json!(null));
    let structured = Policy { refusals_are_results: true, ..POLICY };
    assert_eq!(found_under(&structured, Rule::Roots, &shop()).len(), shop().len());
}

#[test]
fn keywords_that_providers_refuse_are_found_wherever_they_stand() {
    for keyword in [
        "$ref",
        "$defs",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "if",
        "const",
        "format",
        "title",
        "$schema",
        "default",
        "nullable",
        "examples",
        "uniqueItems",
        "exclusiveMinimum",
        "multipleOf",
        "patternProperties",
        "x-anything",
    ] {
        for place in [format!("{CREATE}/inputSchema"), TITLE.to_owned(), format!("{TAGS}/items"), format!("{CREATE}/outputSchema")] {
            let found = fires(Rule::Keywords, &format!("{place}/{keyword}"), json!({ "type": "string" }));
            assert!(found.starts_with("create_book ") && found.contains(keyword), "{found}");
        }
    }
    fires(Rule::Keywords, &format!("{FACTS}/additionalProperties"), json!({ "type": "string" }));
}

#[test]
fn a_property_may_be_named_like_a_keyword() {
    silent(&format!("{CREATE}/inputSchema/properties/format"), json!({ "type": "string", "description": "Paper or cloth." }));
    silent(&format!("{CREATE}/inputSchema/properties/type"), json!({ "type": "string", "description": "Paper or cloth." }));
}

#[test]
fn a_result_that_may_be_null_says_so_in_words_or_with_any_of() {
    let place = format!("{UPDATE}/outputSchema/properties/title");
    silent(&place, json!({ "description": "Its title; null while it has none." }));
    silent(&place, json!({ "description": "Its title.", "anyOf": [{ "type": "string" }, { "type": "null" }] }));
    fires(Rule::Types, &place, json!({ "description": "Its title." }));
    fires(Rule::Types, &place, json!({ "description": "Its nullified title." }));
    fires(Rule::Types, &place, json!({ "description": "Its title.", "type": ["string", "null"] }));
    fires(Rule::Keywords, &place, json!({ "description": "Its title.", "anyOf": [{ "type": "string" }, { "type": "integer" }] }));
}

#[test]
fn a_schema_has_one_type() {
    fires(Rule::Types, &format!("{TITLE}/type"), json!(null));
    fires(Rule::Types, &format!("{TITLE}/type"), json!(["string", "null"]));
    fires(Rule::Types, TITLE, json!(true));
    fires(Rule::Types, &format!("{CREATE}/outputSchema/properties/id"), json!(true));
    fires(Rule::Types, &format!("{TAGS}/items"), json!(null));
    fires(Rule::Types, &format!("{TAGS}/items"), json!({}));
    fires(Rule::Types, &format!("{TAGS}/items"), json!(true));
    fires(Rule::Types, &format!("{TAGS}/items/type"), json!(["object", "null"]));
}

#[test]
fn arguments_are_not_nested_more_than_five_deep() {
    let nested = |levels: usize| {
        (0..levels).fold(
            json!({ "type": "string", "description": "The innermost." }),
            |inner, _| json!({ "type": "object", "description": "One level.", "properties": { "inner": inner } }),
        )
    };
    silent(FACTS, nested(4));
    fires(Rule::Depth, FACTS, nested(5));
    silent(&format!("{CREATE}/outputSchema/properties/facts"), nested(9));
}

#[test]
fn properties_are_named_in_the_case_of_the_product() {
    let text = json!({ "type": "string", "description": "Whatever it is." });
    for name in ["bookTitle", "book-title", "book.title", "$filter", "Book", "büro", &"a".repeat(65)] {
        fires(Rule::PropertyNames, &format!("{CREATE}/inputSchema/properties/{name}"), text.clone());
    }
    fires(Rule::PropertyNames, &format!("{CREATE}/outputSchema/properties/bookTitle"), text.clone());
    let camel = Policy { case: Case::Camel, ..POLICY };
    let tools = with(&format!("{CREATE}/inputSchema/properties/bookTitle"), text);
    let found = found_under(&camel, Rule::PropertyNames, &tools);
    assert!(!found.is_empty() && found.iter().all(|line| !line.contains("bookTitle")), "{found:?}");
}

#[test]
fn required_names_are_properties() {
    for required in [json!([]), json!("title"), json!(["title", "title"]), json!(["ghost"]), json!([1]), json!({})] {
        fires(Rule::Required, &format!("{CREATE}/inputSchema/required"), required);
    }
    silent(&format!("{CREATE}/inputSchema/required"), json!(["title", "tags"]));
    silent(&format!("{LIST}/inputSchema/required"), json!(null));
    fires(Rule::Required, &format!("{DELETE}/outputSchema/required"), json!(["ghost"]));
}
