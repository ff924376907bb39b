//! What schemas say of single values.

use catalog_lint::Rule;
use serde_json::json;

use crate::shop::{CREATE, LIST, fires, silent};

const TITLE: &str = "/1/inputSchema/properties/title";
const LIMIT: &str = "/0/inputSchema/properties/limit";

#[test]
fn choices_are_texts_that_say_something() {
    let shelf = format!("{LIST}/inputSchema/properties/shelf");
    for choices in [json!([]), json!(["north", ""]), json!([1, 2]), json!(["north", null]), json!(["north", "north"]), json!("north")] {
        fires(Rule::Enums, &format!("{shelf}/enum"), choices);
    }
    fires(Rule::Enums, &format!("{shelf}/type"), json!("integer"));
    silent(&format!("{shelf}/enum"), json!(["north"]));
}

#[test]
fn bounds_are_those_that_a_float_keeps() {
    fires(Rule::Bounds, &format!("{LIMIT}/maximum"), json!(i64::MAX));
    fires(Rule::Bounds, &format!("{LIMIT}/minimum"), json!(i64::MIN));
    silent(&format!("{LIMIT}/maximum"), json!(9_007_199_254_740_991_i64));
}

#[test]
fn bounds_leave_something_to_say() {
    fires(Rule::Bounds, &format!("{LIMIT}/minimum"), json!(101));
    fires(Rule::Bounds, &format!("{TITLE}/minLength"), json!(2_500));
    silent(&format!("{LIMIT}/minimum"), json!(100));
}

#[test]
fn lengths_stay_below_what_a_grammar_repeats() {
    fires(Rule::Repetitions, &format!("{TITLE}/maxLength"), json!(2_000));
    fires(Rule::Repetitions, &format!("{TITLE}/maxLength"), json!(65_536));
    fires(Rule::Repetitions, &format!("{CREATE}/inputSchema/properties/tags/maxItems"), json!(2_000));
    silent(&format!("{TITLE}/maxLength"), json!(1_999));
    silent(&format!("{LIMIT}/maximum"), json!(1_000_000));
    silent(&format!("{CREATE}/outputSchema/properties/id/maxLength"), json!(65_536));
}

#[test]
fn patterns_are_those_that_every_engine_reads() {
    for pattern in [
        "[a-z]+",
        "^[a-z]+",
        "[a-z]+$",
        r"^[a-z]+\$",
        r"^\d+$",
        r"^[\w-]+$",
        r"^a\b$",
        r"^\p{L}+$",
        r"^[^\p{Cc}]*$",
        r"^\u{41}$",
        r"^\x4$",
        r"^[a\.]$",
        "^(?!x)[a-z]+$",
        "^(?<name>a)$",
        "^(?:a|b)$",
        "^a|b$",
        "^a$|^b$",
        "^[a-z]{1,2000}$",
        "^[a-z]{2000}$",
        "^a\\",
    ] {
        fires(Rule::Patterns, &format!("{TITLE}/pattern"), json!(pattern));
    }
}

#[test]
fn plain_patterns_are_let_through() {
    for pattern in [
        "^[a-z]+$",
        "^b-[0-9a-f]{8}-[0-9a-f]{4}$",
        r"^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$",
        r"^[0-9]+\.[0-9]+$",
        r"^(a|b)+\u0041\\$",
        "^[a-z|^$(?{2000}]+$",
        "^[a-z]{1,1999}$",
        "^$",
    ] {
        silent(&format!("{TITLE}/pattern"), json!(pattern));
    }
}
