//! One table: what can become of a request, for each ruling and both eras. What the rulings say beside that has tests of
//! its own:
//!
//! | matter | tests |
//! | --- | --- |
//! | eras | `core versions::meta_and_routing_headers_alone_make_no_modern_request`, `core versions::a_legacy_version_named_in_meta_is_served_by_its_own_rules` |
//! | `initialize` | `core versions::initialize_echoes_a_version_that_is_served`, `core versions::initialize_answers_any_other_version_with_the_products_own` |
//! | `Accept`, session headers | `core transport::accept_is_never_required_and_the_answer_is_always_json`, `core transport::no_session_is_asked_for_and_none_is_made` |
//! | other methods | `core transport::every_method_but_post_gets_405_before_the_key_is_looked_at`, `core cors::where_no_origin_is_configured_a_preflight_is_405_like_any_other_method` |
//! | batch | `core envelope::only_the_version_header_says_whether_there_are_batches`, `core envelope::a_batch_holds_one_to_twenty_messages`, `core envelope::a_batch_with_initialize_inside_is_refused_whole`, `core stdio::a_batch_is_refused_by_one_line_and_the_next_line_is_served` |
//! | body | `core transport::the_limit_of_a_body_is_one_number_to_the_byte`, `core envelope::a_body_is_read_to_the_limit_of_its_depth_and_refused_beyond_it` |
//! | coercion | `core coercion::a_whole_number_may_be_written_with_a_fraction_an_exponent_or_as_text`, `core coercion::an_object_or_a_list_may_come_as_json_text_and_text_is_never_read_as_anything_else`, `core coercion::null_for_an_optional_argument_means_that_it_is_left_out`, `core coercion::null_is_refused_where_it_could_mean_to_clear_or_to_keep` |
//! | unknown arguments | `core calls::a_misspelt_argument_is_refused_by_name_and_the_tool_does_not_run` |
//! | results | `core results::the_text_and_the_structured_content_are_the_same_json`, `core versions::each_version_is_answered_in_its_own_form` |
//! | error results | `core results::a_refusal_is_a_value_only_where_the_output_schema_admits_its_shape` |
//! | hints | `core schemas::all_four_hints_are_given_and_true`, `core results::a_call_that_says_it_is_idempotent_leaves_the_same_state_when_it_is_repeated` |
//! | answer over the limit | `core calls::a_too_large_answer_is_refused_whole_and_names_the_argument_that_narrows_it` |

mod seen;

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use library::client::{Answer, Door, Draft, Era, META_CAPABILITIES, META_VERSION};

use crate::field_reports::map;
pub(crate) use seen::*;

use Id::{Absent, Echoed, Null};
use Seen::{Question, Refusal, Unauthorized};

pub(crate) fn list(door: &Door, era: Era) -> Draft<'_> {
    door.ask(era, "tools/list", json!({}))
}

/// The envelope's faults depend on the header alone.
pub(crate) fn raw(door: &Door, era: Era, body: &'static str) -> Answer {
    let version = if era == Era::Modern { "2026-07-28" } else { "2025-06-18" };
    door.post().header("mcp-protocol-version", version).body(body).send()
}

/// While something is wrong behind the door.
fn while_set(flag: &AtomicBool, send: impl FnOnce() -> Answer) -> Answer {
    flag.store(true, Ordering::SeqCst);
    let answer = send();
    flag.store(false, Ordering::SeqCst);
    answer
}

/// A call of a client that said what it can do, with what it brings from an earlier round.
fn able(door: &Door, era: Era, params: Value, capabilities: Value) -> Answer {
    let draft = door.ask(era, "tools/call", params);
    match era {
        Era::Legacy => draft.send(),
        Era::Modern => draft.change(|body| body["params"]["_meta"][META_CAPABILITIES] = capabilities).send(),
    }
}

/// The version that a request of this era names.
fn named(era: Era) -> &'static str {
    match era {
        Era::Legacy => "2025-06-18",
        Era::Modern => "2026-07-28",
    }
}

fn order() -> Value {
    json!({ "name": "order_book", "arguments": { "title": "Emma" } })
}

fn with(mut params: Value, name: &str, value: Value) -> Value {
    params[name] = value;
    params
}

fn links() -> Value {
    json!({ "elicitation": { "url": {} } })
}

/// What is told instead of a link.
const UNPAID: Seen<'static> = Refusal("quota_exceeded");
const UNAUTHORIZED: Column = each(Unauthorized);
/// Parameters that do not hold.
const BAD_PARAMS: Column = error(200, -32602, Echoed);
const INSIDE: Column = each(Refusal("internal_error"));

const TABLE: &[Situation] = &[
    // Before the body is read.
    alike("no key", |door, era| list(door, era).without("authorization").send(), UNAUTHORIZED),
    alike("a bad key", |door, era| list(door, era).header("authorization", "Bearer x").send(), UNAUTHORIZED),
    alike("a revoked key", |door, era| list(door, era).key(&door.keys.revoked).send(), UNAUTHORIZED),
    alike("no key, and a body that is none", |door, era| list(door, era).without("authorization").body("{").send(), UNAUTHORIZED),
    alike("a page of a foreign origin", |door, era| list(door, era).header("origin", "null").send(), error(403, -32600, Null)),
    alike("another path", |door, era| list(door, era).uri("/x").send(), error(404, -32600, Null)),
    alike("another method than POST", |door, era| list(door, era).method("GET").send(), error(405, -32600, Null)),
    alike("too large a body", |door, era| list(door, era).body(vec![b' '; door.profile.body_limit + 1]).send(), error(413, -32600, Null)),
    alike("another content type", |door, era| list(door, era).header("content-type", "text/plain").send(), error(415, -32600, Null)),
    alike("a compressed body", |door, era| list(door, era).header("content-encoding", "gzip").send(), error(415, -32600, Null)),
    alike("too many calls", |door, era| while_set(&door.backstage.crowded, || list(door, era).send()), error(429, -32600, Null)),
    alike(
        "a key store that does not answer",
        |door, era| while_set(&door.backstage.outage, || list(door, era).send()),
        error(503, -32603, Null),
    ),
    row(
        "a failure outside a tool",
        |door, era| list(door, era).header("x-panic", "at the door").send(),
        error(200, -32603, Null),
        error(200, -32603, Absent),
    ),
    // The envelope.
    row("bad JSON", |door, era| raw(door, era, "{"), error(200, -32700, Null), error(400, -32700, Absent)),
    row("no request object", |door, era| raw(door, era, "7"), error(200, -32600, Null), error(400, -32600, Absent)),
    row(
        "a bad id",
        |door, era| raw(door, era, r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#),
        error(200, -32600, Null),
        error(400, -32600, Absent),
    ),
    row("a refused batch", |door, era| raw(door, era, "[]"), error(200, -32600, Null), error(400, -32600, Absent)),
    row(
        "an unknown method",
        |door, era| door.ask(era, "made/up", json!({})).send(),
        error(200, -32601, Echoed),
        error(404, -32601, Echoed),
    ),
    // Eras and versions. What names a version that is not served belongs to no era: it is tried by the header alone, and
    // by `_meta` and the header.
    row(
        "a version that is not served",
        |door, era| {
            let strange = "1999-01-01";
            let list = list(door, era).header("mcp-protocol-version", strange);
            match era {
                Era::Legacy => list.send(),
                Era::Modern => list.change(|body| body["params"]["_meta"][META_VERSION] = json!(strange)).send(),
            }
        },
        error(400, -32022, Echoed),
        error(400, -32022, Echoed),
    ),
    row(
        "no _meta",
        |door, era| list(door, era).change(|body| drop(body["params"].as_object_mut().unwrap().remove("_meta"))).send(),
        SERVED,
        error(400, -32602, Echoed),
    ),
    row(
        "a _meta without capabilities",
        |door, era| list(door, era).change(|body| body["params"]["_meta"] = json!({ META_VERSION: named(era) })).send(),
        SERVED,
        error(400, -32602, Echoed),
    ),
    row(
        "a _meta without a version header",
        |door, _| list(door, Era::Modern).without("mcp-protocol-version").send(),
        UNTRIED,
        error(400, -32020, Echoed),
    ),
    row(
        "a header that names another method",
        |door, era| list(door, era).header("mcp-method", "tools/call").send(),
        SERVED,
        error(400, -32020, Echoed),
    ),
    row(
        "a header that names another tool",
        |door, era| door.ask(era, "tools/call", json!({ "name": "count_books" })).header("mcp-name", "burn_book").send(),
        SERVED,
        error(400, -32020, Echoed),
    ),
    // Tools.
    alike("an unknown tool", |door, era| door.call(era, "no_such_tool", json!({})), UNKNOWN_TOOL),
    alike("an unknown tool and no arguments to read", |door, era| door.call(era, "no_such_tool", json!([])), UNKNOWN_TOOL),
    alike("a call without a name", |door, era| door.ask(era, "tools/call", json!({ "arguments": {} })).send(), BAD_PARAMS),
    alike("a name that is no text", |door, era| door.ask(era, "tools/call", json!({ "name": 7 })).send(), BAD_PARAMS),
    alike("a made-up cursor of the list", |door, era| door.ask(era, "tools/list", json!({ "cursor": "zzz" })).send(), BAD_PARAMS),
    alike("a missing argument", |door, era| door.call(era, "add_book", json!({})), BAD_ARGUMENTS),
    alike("an argument of the wrong type", |door, era| door.call(era, "list_books", json!({ "limit": "many" })), BAD_ARGUMENTS),
    alike("an argument out of bounds", |door, era| door.call(era, "list_books", json!({ "limit": 0 })), BAD_ARGUMENTS),
    alike("an unknown argument", |door, era| door.call(era, "count_books", json!({ "limit": 1 })), BAD_ARGUMENTS),
    alike(
        "null where null is refused",
        |door, era| door.call(era, "lend_book", json!({ "book_id": "bk-1", "reader": null })),
        BAD_ARGUMENTS,
    ),
    alike("arguments that are a list", |door, era| door.call(era, "list_books", json!([1])), BAD_ARGUMENTS),
    alike("arguments that are text and no JSON", |door, era| door.call(era, "list_books", json!("all of them")), BAD_ARGUMENTS),
    alike(
        "an id that leads nowhere",
        |door, era| door.call(era, "lend_book", json!({ "book_id": "bk-99" })),
        each(Refusal("book_not_found")),
    ),
    alike(
        "a state that stands against it",
        |door, era| door.call(era, "burn_book", json!({ "book_id": "bk-1" })),
        each(Refusal("confirm_needed")),
    ),
    alike(
        "an argument that the product's own route refuses",
        |door, era| door.call(era, "ask_librarian", json!({ "question": "Where?", "bribe": 5 })),
        each(Refusal("unknown_argument")),
    ),
    alike("a tool that fails inside", |door, era| door.call(era, "dust_shelves", json!({})), INSIDE),
    alike("a tool that panics", |door, era| door.call(era, "move_shelf", json!({})), INSIDE),
    alike(
        "an answer over the limit",
        |door, era| door.call(era, "print_catalogue", json!({ "letters": 100_000 })),
        each(Refusal("answer_too_large")),
    ),
    // Rights.
    alike("a key that lacks the right", |door, era| door.call(era, "enter_vault", json!({})), each(Refusal("forbidden"))),
    alike(
        "a token that lacks the right",
        |door, era| door.ask(era, "tools/call", json!({ "name": "enter_vault" })).key(&door.keys.token).send(),
        each(Seen::Challenged),
    ),
    alike(
        "a key that has the right",
        |door, era| door.ask(era, "tools/call", json!({ "name": "enter_vault" })).key(&door.keys.librarian).send(),
        SERVED,
    ),
    // Questions to a person.
    row("a link, to a client that opens links", |door, era| able(door, era, order(), links()), each(UNPAID), each(Question)),
    alike("a link, to a client that opens none", |door, era| able(door, era, order(), json!({})), each(UNPAID)),
    row(
        "a form, to a client that fills in forms",
        |door, era| able(door, era, json!({ "name": "sign_register" }), json!({ "elicitation": {} })),
        each(Refusal("input_unavailable")),
        each(Question),
    ),
    row(
        "a form, to a client that fills in none",
        |door, era| able(door, era, json!({ "name": "sign_register" }), links()),
        each(Refusal("input_unavailable")),
        error(400, -32021, Echoed),
    ),
    row(
        "a state that nobody sealed",
        |door, era| able(door, era, with(order(), "requestState", json!("made up")), links()),
        each(UNPAID),
        BAD_PARAMS,
    ),
    row("a state that is no text", |door, era| able(door, era, with(order(), "requestState", json!(7)), links()), each(UNPAID), BAD_PARAMS),
    row(
        "answers that are no object",
        |door, era| able(door, era, with(order(), "inputResponses", json!([])), links()),
        each(UNPAID),
        BAD_PARAMS,
    ),
];

/// D1, D15, D33, D49, D51, D57, D59, D63, D65, D67, D97, D107. By the ruling agents see an unknown tool as `isError`.
#[test]
fn every_situation_is_seen_as_the_ruling_of_the_product_and_the_era_say() {
    let cells = holds(TABLE);
    println!("situations: {cells} cells hold");
    assert_eq!(cells, 8 * TABLE.len() - 4, "one row belongs to one era alone");
}

#[test]
fn every_other_ruling_has_its_tests() {
    let tests = map::tests_of_the_workspace();
    let rulings: Vec<map::Row> = map::rows(include_str!("situations.rs")).collect();
    assert_eq!(rulings.len(), 12, "as many as there are rulings beside the situations");
    for ruling in &rulings {
        for place in &ruling.places {
            assert!(tests.contains_key(place), "{}: there is no test {place}", ruling.what);
        }
    }
}
