//! Hints: complete, without contradiction, and as names lead one to expect.

use catalog_lint::{Policy, Rule};
use serde_json::json;

use crate::shop::{CREATE, DELETE, LIST, POLICY, UPDATE, fires, found_under, shop};

#[test]
fn all_four_hints_and_both_titles_are_given() {
    for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "title"] {
        fires(Rule::Hints, &format!("{CREATE}/annotations/{hint}"), json!(null));
    }
    fires(Rule::Hints, &format!("{CREATE}/annotations"), json!(null));
    fires(Rule::Hints, &format!("{CREATE}/annotations/readOnlyHint"), json!("false"));
    for title in [json!(null), json!("a tool of the shop"), json!("A tool of the shop."), json!("Another title"), json!("A".repeat(61))] {
        fires(Rule::Hints, &format!("{CREATE}/title"), title);
    }
}

#[test]
fn what_only_reads_destroys_nothing_and_can_be_repeated() {
    fires(Rule::HintsAgree, &format!("{LIST}/annotations/destructiveHint"), json!(true));
    fires(Rule::HintsAgree, &format!("{LIST}/annotations/idempotentHint"), json!(false));
}

#[test]
fn hints_are_those_that_the_name_leads_one_to_expect() {
    fires(Rule::HintsFitNames, &format!("{LIST}/annotations/readOnlyHint"), json!(false));
    fires(Rule::HintsFitNames, &format!("{CREATE}/annotations/readOnlyHint"), json!(true));
    fires(Rule::HintsFitNames, &format!("{CREATE}/annotations/idempotentHint"), json!(true));
    fires(Rule::HintsFitNames, &format!("{CREATE}/annotations/destructiveHint"), json!(true));
    fires(Rule::HintsFitNames, &format!("{UPDATE}/annotations/destructiveHint"), json!(false));
    fires(Rule::HintsFitNames, &format!("{DELETE}/annotations/destructiveHint"), json!(false));
    fires(Rule::HintsFitNames, &format!("{DELETE}/name"), json!("get_rid_of_book"));
    let prefixed = Policy { prefix: "shop_", ..POLICY };
    let tools = crate::shop::with(&format!("{DELETE}/name"), json!("shop_list_books"));
    assert_eq!(found_under(&prefixed, Rule::HintsFitNames, &tools).len(), 1, "the verb is behind the prefix");
}

#[test]
fn a_tool_is_open_world_exactly_where_the_policy_says_so() {
    fires(Rule::OpenWorld, &format!("{CREATE}/annotations/openWorldHint"), json!(true));
    let another = Policy { open_world: &["order_book", "list_books"], ..POLICY };
    assert_eq!(found_under(&another, Rule::OpenWorld, &shop()).len(), 1);
    let unknown = Policy { open_world: &["order_book", "ghost"], ..POLICY };
    assert_eq!(found_under(&unknown, Rule::OpenWorld, &shop()).len(), 1);
}
