//! The rows behind what is answered: none is missing, and none is left over.

use std::collections::BTreeMap;

use dynoxide::types::AttributeValue;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::reference::{Model, Organisation};
use super::system::Names;
use crate::world::Row;

/// Partition and sort key, and what counts of the row.
pub type Rows = BTreeMap<String, Value>;

/// An item as JSON.
pub fn as_json(row: &Row) -> Map<String, Value> {
    row.iter().map(|(name, value)| (name.clone(), plain(value))).collect()
}

fn plain(value: &AttributeValue) -> Value {
    match value {
        AttributeValue::S(text) => json!(text),
        AttributeValue::N(number) => serde_json::from_str(number).unwrap(),
        AttributeValue::BOOL(value) => json!(value),
        AttributeValue::B(bytes) => json!(bytes),
        AttributeValue::L(list) => list.iter().map(plain).collect(),
        AttributeValue::M(map) => map.iter().map(|(name, value)| (name.clone(), plain(value))).collect::<Map<_, _>>().into(),
        other => json!(format!("{other:?}")),
    }
}

/// The rows that are stored. Those of keys and of invitations (which linger until they are cleaned up) are left out,
/// and an address is told by who holds it.
pub fn rows(all: &[Row], names: &Names, organisations: [&str; 2]) -> Rows {
    let mut rows = Rows::new();
    for item in all.iter().map(as_json) {
        let (pk, sk) = (item["pk"].as_str().unwrap(), item["sk"].as_str().unwrap());
        let of_one = organisations.iter().any(|org| pk.strip_prefix(org).is_some_and(|rest| rest.starts_with('#')));
        let link = pk.starts_with("L#");
        if !(of_one || link) || ["K#", "I#"].iter().any(|left_out| pk.ends_with("#O") && sk.starts_with(left_out)) {
            continue;
        }
        let of = |attributes: &[&str]| attributes.iter().filter_map(|name| Some(((*name).to_owned(), item.get(*name)?.clone()))).collect();
        let counts = of(&[
            "n_members",
            "n_owners",
            "n_templates",
            "n_assets",
            "active",
            "expires_ms",
            "holder",
            "org",
            "withdrawn",
            "runs",
            "status",
            "st",
        ]);
        let place = if sk.starts_with("E#") { format!("E#{}", item["holder"].as_str().unwrap()) } else { sk.to_owned() };
        let row = names.with_labels(&json!([pk, place, Value::Object(counts)]));
        let text = |n: usize| row[n].as_str().unwrap().to_owned();
        rows.insert(format!("{} {}", text(0), text(1)), row[2].clone());
    }
    rows
}

/// The rows that the model stands for.
pub fn expected(model: &Model) -> Rows {
    let mut rows = Rows::new();
    for (org, house) in model.orgs.iter().enumerate() {
        of_house(house, &format!("<org{org}>"), &mut rows);
    }
    rows
}

fn of_house(house: &Organisation, org: &str, rows: &mut Rows) {
    let mut put = |room: String, place: String, counts: Value| {
        let counts: Map<String, Value> = counts.as_object().unwrap().clone().into_iter().filter(|(_, value)| !value.is_null()).collect();
        rows.insert(format!("{room} {place}"), counts.into());
    };
    let row = house.row();
    let counts =
        json!({ "n_members": row["members"], "n_owners": row["owners"], "n_templates": row["templates"], "n_assets": row["assets"] });
    put(format!("{org}#O"), "META".into(), counts);
    for (month, runs) in &house.usage {
        put(format!("{org}#O"), format!("USE#{month}"), json!({ "runs": runs }));
    }
    for member in house.live_members() {
        put(format!("{org}#O"), format!("M#{}", member.label), json!({}));
        put(format!("{org}#O"), format!("E#{}", member.label), json!({ "holder": member.label.to_string() }));
    }
    for (label, ends) in house.reserved_addresses() {
        put(format!("{org}#O"), format!("E#{label}"), json!({ "holder": label.to_string(), "expires_ms": ends.as_millisecond() }));
    }
    for asset in house.live_assets() {
        put(format!("{org}#A"), asset.label.to_string(), json!({ "active": house.holders(asset.label).count() }));
        for run in house.holders(asset.label) {
            let ends = run.run.expires_at.map(Timestamp::as_millisecond);
            put(format!("{org}#AR#{}", asset.label), run.label.to_string(), json!({ "expires_ms": ends }));
        }
    }
    for template in &house.templates {
        // Bodies outlive their template.
        (1..=template.v).for_each(|v| put(format!("{org}#TB#{}", template.label), format!("v{v:07}"), json!({})));
        if !template.gone {
            put(format!("{org}#T"), template.label.to_string(), json!({}));
        }
    }
    for run in &house.runs {
        let withdrawn = run.gone.then_some(true);
        put(format!("L#{}", run.label), "L".into(), json!({ "org": org, "withdrawn": withdrawn }));
        if run.gone {
            continue;
        }
        let file = format!("{org}#R#{}", run.label);
        put(file.clone(), "#RUN".into(), json!({}));
        run.asset.iter().for_each(|_| put(file.clone(), "ASSET".into(), json!({})));
        run.run.answers.keys().for_each(|step| put(file.clone(), format!("ANS#{step}"), json!({})));
        run.operations.iter().for_each(|operation| put(format!("{org}#RO#{}", run.label), operation.clone(), json!({})));
        let (status, ends) = (run.run.status.as_str(), run.run.expires_at.map(Timestamp::as_millisecond));
        let entry = json!({ "status": status, "st": format!("{org}#LS#{status}"), "expires_ms": ends });
        put(format!("{org}#L"), format!("{:013}#{}", run.run.created_at.as_millisecond(), run.label), entry);
    }
}
