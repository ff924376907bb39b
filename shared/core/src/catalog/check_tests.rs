use proptest::prelude::*;
use schemars::JsonSchema;
use serde_json::json;

use super::super::schema;
use super::super::tool::Unknown;
use super::*;

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Booking {
    /// Which one.
    #[schemars(regex(pattern = r"^b-[0-9]{3}$"))]
    id: String,
    /// How many nights.
    #[schemars(range(min = 1, max = 30))]
    nights: Option<u32>,
    /// How warm.
    #[schemars(range(min = -10.5, max = 40.0))]
    degrees: Option<f64>,
    /// Whether breakfast is wanted.
    breakfast: Option<bool>,
    /// Names of the guests.
    #[schemars(length(max = 3), inner(length(min = 1, max = 10)))]
    guests: Option<Vec<String>>,
    /// Anything else to know.
    #[schemars(extend("maxProperties" = 2))]
    extras: Option<Map<String, Value>>,
    /// Which room.
    room: Option<Room>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum Room {
    /// To the street.
    Front,
    /// To the yard.
    Back,
}

fn advertised() -> Value {
    schema::of_arguments::<Booking>(Unknown::Refuse).unwrap()
}

fn check(arguments: Value, nulls: Nulls) -> Result<Value, Vec<(String, &'static str)>> {
    let shape = Shape::compile(&advertised()).unwrap();
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    super::arguments(&shape, arguments, nulls).map_err(|found| found.into_iter().map(|one| (one.path, one.rule)).collect())
}

fn refused(arguments: Value) -> Vec<(String, &'static str)> {
    check(arguments, Nulls::Absent).unwrap_err()
}

#[test]
fn the_schema_is_of_the_form_that_every_client_reads() {
    insta::assert_json_snapshot!(advertised());
}

#[test]
fn every_fault_is_told_at_once_with_its_place_and_rule() {
    let arguments = json!({
        "nights": 31, "degrees": "warm", "guests": ["", "a", "b", "c"], "extras": {"a": 1, "b": 2, "c": 3},
        "room": "attic", "nigths": 2,
    });
    assert_eq!(
        refused(arguments),
        [
            ("/id".into(), "required"),
            ("/nights".into(), "maximum"),
            ("/degrees".into(), "type"),
            ("/guests".into(), "maxItems"),
            ("/guests/0".into(), "minLength"),
            ("/extras".into(), "maxProperties"),
            ("/room".into(), "enum"),
            ("/nigths".into(), "additionalProperties"),
        ]
    );
}

#[test]
fn an_unknown_argument_is_refused_by_name_and_the_valid_ones_are_told() {
    let shape = Shape::compile(&advertised()).unwrap();
    let Value::Object(arguments) = json!({ "id": "b-001", "asset": 1 }) else { unreachable!() };
    let found = super::arguments(&shape, arguments, Nulls::Absent).unwrap_err();
    assert_eq!(found[0].path, "/asset");
    assert_eq!(found[0].message, "is not an argument here; the arguments are: id, nights, degrees, breakfast, guests, extras, room");
}

#[test]
fn whole_numbers_may_be_written_as_clients_write_them() {
    for written in [json!(5), json!(5.0), json!("5"), json!("5.0"), json!(0.5e1)] {
        let checked = check(json!({ "id": "b-001", "nights": written }), Nulls::Absent).unwrap();
        assert_eq!(checked["nights"], json!(5), "{written}");
    }
    for written in [json!(5.5), json!("five"), json!(""), json!(true), json!([5]), json!(9.1e18)] {
        assert!(check(json!({ "id": "b-001", "nights": written }), Nulls::Absent).is_err(), "{written}");
    }
}

#[test]
fn objects_and_arrays_may_come_as_json_text_and_text_stays_text() {
    let arguments = json!({ "id": "b-001", "extras": "{\"plate\":\"AB1\"}", "guests": "[\"Ada\"]", "breakfast": "true" });
    let checked = check(arguments, Nulls::Absent).unwrap();
    assert_eq!(checked, json!({ "id": "b-001", "extras": { "plate": "AB1" }, "guests": ["Ada"], "breakfast": true }));
    assert_eq!(refused(json!({ "id": "b-001", "extras": "plate" })), [("/extras".into(), "type")]);
    assert_eq!(refused(json!({ "id": "b-001", "extras": "[]" })), [("/extras".into(), "type")]);
    assert_eq!(check(json!({ "id": "b-001", "guests": ["7"] }), Nulls::Absent).unwrap()["guests"], json!(["7"]));
}

#[test]
fn null_is_absence_except_where_a_tool_refuses_it() {
    assert_eq!(check(json!({ "id": "b-001", "nights": null }), Nulls::Absent), Ok(json!({ "id": "b-001" })));
    assert_eq!(check(json!({ "id": "b-001", "nights": null }), Nulls::Refused), Err(vec![("/nights".into(), "type")]));
    assert_eq!(refused(json!({ "id": null })), [("/id".into(), "type")]);
    assert!(check(json!({ "id": "b-001", "extras": { "a": null } }), Nulls::Refused).is_ok());
}

#[test]
fn lengths_are_counted_in_characters() {
    assert!(check(json!({ "id": "b-001", "guests": ["éééééééééé"] }), Nulls::Absent).is_ok());
    assert_eq!(refused(json!({ "id": "b-001", "guests": ["ééééééééééé"] })), [("/guests/0".into(), "maxLength")]);
}

#[test]
fn a_keyword_that_is_not_checked_cannot_be_advertised() {
    for schema in
        [json!({"type": "string", "format": "email"}), json!({"type": "array"}), json!({"type": ["string", "null"]}), json!({"anyOf": []})]
    {
        assert!(Shape::compile(&schema).is_err(), "{schema}");
    }
}

fn some_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-40_i64..60).prop_map(Value::from),
        (-40.0..60.0_f64).prop_map(Value::from),
        "b-[0-9]{2,4}".prop_map(Value::from),
        "(front|back|attic|\\PC{0,12})".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::hash_map("[a-d]", inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Whatever the oracle accepts we accept unchanged (but for the nulls that mean absence), and what we accept after
    /// coercion the oracle accepts too.
    #[test]
    fn the_checker_agrees_with_a_complete_json_schema_validator(
        members in prop::collection::hash_map("(id|nights|degrees|breakfast|guests|extras|room|other)", some_value(), 0..6)
    ) {
        let oracle = jsonschema::validator_for(&advertised()).unwrap();
        let arguments = Value::Object(members.into_iter().collect());
        match check(arguments.clone(), Nulls::Refused) {
            Ok(coerced) => prop_assert!(oracle.is_valid(&coerced), "{arguments} became {coerced}"),
            Err(found) => prop_assert!(!oracle.is_valid(&arguments), "{arguments} was refused for {found:?}"),
        }
    }
}
