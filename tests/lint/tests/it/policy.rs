//! What a policy waives, and what a fault looks like.

use catalog_lint::{Policy, Rule, Waiver, check, faults};
use serde_json::json;

use crate::shop::{CREATE, POLICY, shop, with};

const TITLE: &str = "/1/inputSchema/properties/title/maxLength";

#[test]
fn a_fault_says_where_it_is_what_is_wrong_and_who_minds() {
    let found = faults(&with(TITLE, json!(2_000)), &POLICY);
    let line = "create_book inputSchema/title: maxLength of 2000: llama.cpp (LM Studio, Ollama) refuses 2000 and more (Repetitions)";
    assert_eq!(found, [line]);
}

#[test]
fn a_waiver_covers_its_rule_and_its_tools_alone() {
    let long = with(TITLE, json!(2_000));
    let waiving = |rule, tools| Policy { waivers: Box::leak(Box::new([Waiver { rule, tools, because: "a test" }])), ..POLICY };
    assert_eq!(faults(&long, &waiving(Rule::Repetitions, &["create_book"])), Vec::<String>::new());
    assert_eq!(faults(&long, &waiving(Rule::Repetitions, &[])), Vec::<String>::new());
    assert_eq!(faults(&long, &waiving(Rule::Repetitions, &["list_books"])).len(), 2);
    assert_eq!(faults(&long, &waiving(Rule::Patterns, &["create_book"])).len(), 2);
}

#[test]
fn a_waiver_of_nothing_is_a_fault() {
    for tools in [&[][..], &["create_book"]] {
        let waivers = Box::leak(Box::new([Waiver { rule: Rule::Repetitions, tools, because: "a test" }]));
        let found = faults(&shop(), &Policy { waivers, ..POLICY });
        assert!(found.len() == 1 && found[0].ends_with("the waiver of Repetitions waives nothing"), "{found:?}");
    }
}

#[test]
fn a_good_list_passes_the_check() {
    check(&shop(), &POLICY);
}

#[test]
#[should_panic(expected = "2 faults in the tools of shop")]
fn the_check_tells_all_faults_at_once() {
    let mut tools = with(TITLE, json!(2_000));
    tools[1]["inputSchema"]["properties"]["tags"]["maxItems"] = json!(3_000);
    check(&tools, &POLICY);
}

#[test]
fn a_list_of_nonsense_is_refused_and_does_not_panic() {
    for nonsense in [json!(null), json!([]), json!({}), json!({ "name": 7, "inputSchema": [], "outputSchema": true, "annotations": "x" })] {
        assert!(!faults(&[nonsense], &POLICY).is_empty());
    }
    assert!(!faults(&with(&format!("{CREATE}/inputSchema"), json!(true)), &POLICY).is_empty());
}
