//! Names, and what the list costs.

use catalog_lint::{Budget, Policy, Rule, size_of};
use serde_json::json;

use crate::shop::{CREATE, POLICY, fires, found_under, shop, with};

#[test]
fn a_tool_has_a_name_that_every_client_takes() {
    for name in ["Create_book", "create-book", "create.book", "create book", "", "_create", "create__book", "9_books", "buch_öffnen"] {
        fires(Rule::ToolNames, &format!("{CREATE}/name"), json!(name));
    }
    fires(Rule::ToolNames, &format!("{CREATE}/name"), json!("list_books"));
    fires(Rule::ToolNames, &format!("{CREATE}/name"), json!(format!("create_{}", "a".repeat(30))));
}

#[test]
fn a_name_must_fit_behind_that_of_its_server() {
    let long = Policy { server: "the-whole-name-of-the-shop-of-books", ..POLICY };
    assert_eq!(found_under(&long, Rule::ToolNames, &shop()), Vec::<String>::new());
    let longer = Policy { server: "the-whole-name-of-the-shop-of-books-and-of-much-else", ..POLICY };
    assert_eq!(found_under(&longer, Rule::ToolNames, &shop()).len(), shop().len());
}

#[test]
fn a_prefix_is_that_of_all_tools() {
    let prefixed = Policy { prefix: "list_", ..POLICY };
    assert_eq!(found_under(&prefixed, Rule::ToolNames, &shop()).len(), shop().len() - 1);
}

#[test]
fn each_part_of_the_budget_is_kept() {
    let tight = [
        Budget { tools: 4, ..POLICY.budget },
        Budget { tokens: 100, ..POLICY.budget },
        Budget { largest: 100, ..POLICY.budget },
        Budget { list_bytes: 1_000, ..POLICY.budget },
    ];
    for budget in tight {
        assert!(!found_under(&Policy { budget, ..POLICY }, Rule::Budget, &shop()).is_empty(), "{budget:?}");
    }
}

#[test]
fn a_tool_costs_what_a_model_reads_of_it() {
    let before = size_of(&shop()[1]);
    for unread in ["title", "outputSchema", "annotations"] {
        assert_eq!(size_of(&with(&format!("{CREATE}/{unread}"), json!("x".repeat(500)))[1]), before);
    }
    let longer = size_of(&with(&format!("{CREATE}/description"), json!("x".repeat(400)))[1]);
    assert!(longer.tokens().abs_diff(100 + size_of(&with(&format!("{CREATE}/description"), json!(""))[1]).tokens()) <= 1);
}
