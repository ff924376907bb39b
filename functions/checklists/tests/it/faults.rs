//! A table that goes wrong: at every request of every writing tool, once and for good.
//!
//! A fault that passes is not noticed: the call is done, exactly once. A table that stays down refuses cleanly: nothing
//! is half done, and nothing of the table reaches the caller. `Fault::Slow` is left out, since an attempt that takes
//! too long ends as one that is cut.

use std::time::Duration;

use checklists::members::Role;
use dynoxide::AttributeValue;
use futures_util::future::join_all;
use jiff::SignedDuration;
use onepost_cloud::table::faults::Fault;
use serde_json::{Value, json};

use crate::world::{Row, Said, Tenant, World};

const OPERATIONS: [&str; 5] = ["GetItem", "Query", "UpdateItem", "TransactWriteItems", "BatchWriteItem"];

/// Makes a fault.
type Make = fn() -> Fault;

const FAULTS: [Make; 5] = [|| Fault::Conflict, || Fault::Throttle, || Fault::ServerError, || Fault::CutBefore, || Fault::CutAfter];

/// One call of a writing tool, and what has to be there before.
#[derive(Clone, Copy, Debug)]
enum Deed {
    CreateAsset,
    UpdateAsset,
    DeleteAsset,
    /// Of an asset whose run has lapsed and has to be settled.
    DeleteAssetOfLapsedRun,
    CreateTemplate,
    UpdateTemplate,
    DeleteTemplate,
    CreateRun,
    DeleteRun,
    InviteMember,
    RemoveMember,
}

/// An organisation of its own for one call.
struct Home<'w> {
    world: &'w World,
    tenant: Tenant,
}

impl<'w> Home<'w> {
    async fn new(world: &'w World) -> Self {
        let tenant = world.another("Home").await;
        let home = Self { world, tenant };
        // From here on the key was used this hour.
        home.done("list_members", json!({})).await;
        home
    }

    async fn call(&self, tool: &str, arguments: Value) -> Said {
        self.world.call_with(&self.tenant.key, tool, arguments).await
    }

    async fn done(&self, tool: &str, arguments: Value) -> Value {
        self.call(tool, arguments).await.done()
    }

    async fn template(&self) -> Value {
        let sections = json!([{ "id": "g-one", "steps": [{ "id": "s-one", "type": "boolean", "label": "Clean?" }] }]);
        self.done("create_template", json!({ "name": "Check", "sections": sections })).await["id"].clone()
    }

    async fn asset(&self) -> Value {
        self.done("create_asset", json!({ "name": "Van", "fields": { "plate": "AB 1" } })).await["id"].clone()
    }

    /// A begun run for an asset, whose link lasts an hour.
    async fn run(&self, asset: &Value) -> Value {
        let arguments = json!({ "template_id": self.template().await, "asset_id": asset, "expires_in_hours": 1 });
        let run = self.done("create_run", arguments).await["run_id"].clone();
        let (store, org) = (&self.world.store, self.world.desk.org(&self.tenant.organisation.id));
        let answer = crate::world::answered("s-one", true);
        store.change_run(&org, run.as_str().unwrap(), None, &answer, self.world.now()).await.unwrap();
        run
    }

    /// Makes what the deed needs, and answers its tool and arguments.
    async fn prepared(&self, deed: Deed) -> (&'static str, Value) {
        match deed {
            Deed::CreateAsset => ("create_asset", json!({ "name": "Van", "fields": { "plate": "AB 1" } })),
            Deed::UpdateAsset => ("update_asset", json!({ "asset_id": self.asset().await, "fields": { "plate": null, "seats": 3 } })),
            Deed::DeleteAsset => ("delete_asset", json!({ "asset_id": self.asset().await })),
            Deed::DeleteAssetOfLapsedRun => {
                let asset = self.asset().await;
                self.run(&asset).await;
                self.world.clock.advance(SignedDuration::from_hours(1));
                // The hour of the key is over too.
                self.done("list_members", json!({})).await;
                ("delete_asset", json!({ "asset_id": asset }))
            }
            Deed::CreateTemplate => {
                let sections = json!([{ "id": "g-one", "steps": [{ "id": "s-one", "type": "boolean", "label": "Clean?" }] }]);
                ("create_template", json!({ "name": "Check", "sections": sections }))
            }
            Deed::UpdateTemplate => ("update_template", json!({ "template_id": self.template().await, "description": "New" })),
            Deed::DeleteTemplate => ("delete_template", json!({ "template_id": self.template().await })),
            Deed::CreateRun => ("create_run", json!({ "template_id": self.template().await, "asset_id": self.asset().await })),
            Deed::DeleteRun => ("delete_run", json!({ "run_id": self.run(&self.asset().await).await })),
            Deed::InviteMember => ("invite_member", json!({ "email": "new@home.example" })),
            Deed::RemoveMember => {
                let id = &self.tenant.organisation.id;
                let member = self.world.desk.add_member(id, "Mia", "mia@home.example", Role::Owner).await.unwrap();
                ("remove_member", json!({ "user_id": member.user_id }))
            }
        }
    }

    /// Everything that is stored of this organisation but its keys, with ids and secrets made alike.
    fn state(&self) -> Vec<String> {
        let id = AttributeValue::S(self.tenant.organisation.id.clone());
        let own = |row: &Row| row.get("org") == Some(&id) || format!("{:?}", row["pk"]).contains(&self.tenant.organisation.id);
        let mut rows: Vec<String> = self.world.rows().into_iter().filter(own).map(told).filter(|row| !row.contains("K#")).collect();
        rows.sort();
        rows
    }
}

/// A row as text: its attributes in order, random parts hidden.
fn told(row: Row) -> String {
    let mut attributes: Vec<(String, AttributeValue)> = row.into_iter().collect();
    attributes.retain(|(name, value)| {
        !["w", "token"].contains(&name.as_str()) && !matches!(value, AttributeValue::S(text) if text.starts_with("E#"))
    });
    attributes.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut text = format!("{attributes:?}");
    // A UUID: 36 characters with hyphens at four places.
    let is_uuid = |piece: &[u8]| {
        piece.iter().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    };
    while let Some(at) = text.as_bytes().windows(36).position(is_uuid) {
        text.replace_range(at..at + 36, "<id>");
    }
    text
}

fn name_of(operation: &str) -> &'static str {
    OPERATIONS.into_iter().find(|known| *known == operation).unwrap_or_else(|| panic!("{operation} is not expected here"))
}

/// The requests of a deed, and what is stored before and after it.
async fn rehearse(deed: Deed) -> (Vec<&'static str>, Vec<String>, Vec<String>) {
    let world = World::new().await;
    let home = Home::new(&world).await;
    let (tool, arguments) = home.prepared(deed).await;
    let before = home.state();
    let _of_the_preparation = world.faults.operations();
    home.done(tool, arguments).await;
    (world.faults.operations().iter().map(|operation| name_of(operation)).collect(), before, home.state())
}

/// Lets every request of a deed fail once.
async fn survives(deed: Deed) {
    let (operations, _, after) = rehearse(deed).await;
    assert!(operations.len() > 1, "{operations:?}");
    for fault in FAULTS {
        let world = World::new().await;
        let home = Home::new(&world).await;
        let (tool, arguments) = home.prepared(deed).await;
        for operation in &operations {
            // The first attempt goes wrong and the second does not.
            world.faults.next(operation, fault());
            world.faults.next(operation, Fault::Slow(Duration::ZERO));
        }
        let at = format!("{deed:?}: {:?} at each of {operations:?}", fault());
        let said = home.call(tool, arguments).await;
        assert!(matches!(said, Said::Done(_)), "{at}: {said:?}");
        assert_eq!(world.faults.left(), 0, "{at}: a fault did not happen");
        assert_eq!(home.state(), after, "{at}");
        assert_eq!(world.outbox.sent().len(), usize::from(matches!(deed, Deed::InviteMember)), "{at}");
    }
}

/// Lets one request of a deed fail at every attempt: in the end nothing is done, or all of it. Where a deed reads before
/// it writes, reads that fail are another test's.
async fn is_whole_or_nothing(deed: Deed) {
    let (operations, before, after) = rehearse(deed).await;
    let goes_in_steps = matches!(deed, Deed::DeleteRun | Deed::DeleteAssetOfLapsedRun | Deed::InviteMember);
    let reads = |place: &usize| ["GetItem", "Query"].contains(&operations[*place]);
    // The first is the key check.
    let places: Vec<usize> = (1..operations.len()).filter(|place| goes_in_steps || !reads(place)).collect();
    // A read that fails fails in one way, whatever the cause.
    let faults = |place: &usize| if reads(place) { vec![FAULTS[2]] } else { vec![FAULTS[1], FAULTS[2], FAULTS[4]] };
    let cases = places.into_iter().flat_map(|place| faults(&place).into_iter().map(move |fault| (place, fault)));
    join_all(cases.map(async |(place, fault)| {
        let world = World::new().await;
        let home = Home::new(&world).await;
        let (tool, arguments) = home.prepared(deed).await;
        let at = format!("{deed:?}: {:?} for good at {place} of {operations:?}", fault());
        for _ in operations[..place].iter().filter(|earlier| **earlier == operations[place]) {
            world.faults.next(operations[place], Fault::Slow(Duration::ZERO));
        }
        // Twice the attempts: two reads may be under way at once.
        for _ in 0..12 {
            world.faults.next(operations[place], fault());
        }
        let said = home.call(tool, arguments.clone()).await;
        // Where the first step of two is done, "busy" would be wrong, for it says that nothing was changed.
        let in_a_second_step = match deed {
            Deed::DeleteRun => place > 2,
            Deed::InviteMember => place + 1 == operations.len(),
            _ => false,
        };
        let is_busy = matches!(fault(), Fault::Throttle) && !in_a_second_step;
        assert_eq!(said.code(), if is_busy { "busy" } else { "internal_error" }, "{at}");
        says_nothing_of_the_table(&said);
        world.faults.forget();

        let state = home.state();
        let done = matches!(fault(), Fault::CutAfter) && !reads(&place);
        if !goes_in_steps {
            assert_eq!(state, if done { after.clone() } else { before.clone() }, "{at}");
        }
        if matches!(deed, Deed::InviteMember) {
            // An invitation that was not confirmed ends within a minute.
            world.clock.advance(SignedDuration::from_mins(1));
            let again = home.call(tool, arguments).await;
            assert!(matches!(again, Said::Done(_)) || again.code() == "invitation_pending" && done, "{at}: {again:?}");
            return;
        }
        // Whoever tries again when the table is back gets it done, or finds it done.
        let again = home.call(tool, arguments).await;
        let creates = matches!(deed, Deed::CreateAsset | Deed::CreateTemplate | Deed::CreateRun);
        if creates && done {
            assert!(matches!(again, Said::Done(_)), "{at}: {again:?}");
            return;
        }
        let found_done = ["asset_not_found", "template_not_found", "run_not_found", "member_not_found", "invitation_pending"];
        match &again {
            Said::Done(_) => {}
            said => assert!(state != before && found_done.contains(&said.code()), "{at}: {said:?}"),
        }
        assert_eq!(home.state(), after, "{at}");
    }))
    .await;
}

fn says_nothing_of_the_table(said: &Said) {
    let text = format!("{said:?}").to_lowercase();
    for word in ["dynamo", "arn:", "exception", "on command", "sdk", "transact", "checklists", "connect", "dispatch", "http", "table"] {
        assert!(!text.contains(word), "{word} in {text}");
    }
}

macro_rules! deeds {
    ($($name:ident: $deed:ident,)*) => {
        mod a_fault_that_passes_is_not_noticed {
            use super::*;
            $(#[tokio::test] async fn $name() { survives(Deed::$deed).await })*
        }

        mod a_request_that_fails_for_good_leaves_nothing_half_done {
            use super::*;
            $(#[tokio::test] async fn $name() { is_whole_or_nothing(Deed::$deed).await })*
        }
    };
}

deeds! {
    create_asset: CreateAsset,
    update_asset: UpdateAsset,
    delete_asset: DeleteAsset,
    delete_asset_whose_run_has_lapsed: DeleteAssetOfLapsedRun,
    create_template: CreateTemplate,
    update_template: UpdateTemplate,
    delete_template: DeleteTemplate,
    create_run: CreateRun,
    delete_run: DeleteRun,
    invite_member: InviteMember,
    remove_member: RemoveMember,
}

/// A call of every tool that finds what it names.
async fn every_tool(home: &Home<'_>) -> Vec<(&'static str, Value)> {
    let mut calls = Vec::new();
    for deed in [
        Deed::CreateAsset,
        Deed::UpdateAsset,
        Deed::DeleteAsset,
        Deed::CreateTemplate,
        Deed::UpdateTemplate,
        Deed::DeleteTemplate,
        Deed::CreateRun,
        Deed::DeleteRun,
        Deed::InviteMember,
        Deed::RemoveMember,
    ] {
        calls.push(home.prepared(deed).await);
    }
    let (asset, template) = (home.asset().await, home.template().await);
    calls.push(("get_run", json!({ "run_id": home.run(&asset).await })));
    calls.push(("get_asset", json!({ "asset_id": asset })));
    calls.push(("get_template", json!({ "template_id": template })));
    for list in ["list_assets", "list_templates", "list_runs", "list_members"] {
        calls.push((list, json!({})));
    }
    calls.push(("list_runs", json!({ "status": "expired" })));
    calls
}

#[tokio::test]
async fn a_table_that_stays_down_is_told_without_a_word_of_the_table() {
    let faults: [(Make, &str); 3] =
        [(|| Fault::ServerError, "internal_error"), (|| Fault::CutBefore, "internal_error"), (|| Fault::Throttle, "busy")];
    for (fault, code) in faults {
        let world = World::new().await;
        let home = Home::new(&world).await;
        let calls = every_tool(&home).await;
        // Every key check passes, then nothing does. All calls are under way at once, so that their pauses are one.
        for _ in &calls {
            world.faults.next("GetItem", Fault::Slow(Duration::ZERO));
        }
        for operation in OPERATIONS {
            for _ in 0..6 * 3 * calls.len() {
                world.faults.next(operation, fault());
            }
        }
        join_all(calls.into_iter().map(async |(tool, arguments)| {
            let said = home.call(tool, arguments).await;
            assert_eq!(said.code(), code, "{tool}");
            says_nothing_of_the_table(&said);
            let refusal = said.refusal();
            assert_eq!(refusal.get("retry_after").is_some(), code == "busy", "{tool}: {refusal}");
            assert_eq!(refusal.get("request_id").is_some(), code == "internal_error", "{tool}: {refusal}");
        }))
        .await;
    }
}

#[tokio::test]
async fn a_key_that_cannot_be_looked_up_is_neither_let_in_nor_turned_away() {
    join_all([(|| Fault::ServerError) as Make, || Fault::CutBefore, || Fault::Throttle].map(async |fault| {
        let world = World::new().await;
        for _ in 0..6 {
            world.faults.next("GetItem", fault());
        }
        let response = world.post(&world.home.key, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
        assert_eq!(response.status(), 503);
        assert!(response.headers()["retry-after"].to_str().unwrap().parse::<u32>().unwrap() > 0);
        let body: Value = serde_json::from_slice(response.body()).unwrap();
        assert!(body["error"]["code"].is_i64() && body["id"].is_null(), "{body}");
        for word in ["dynamo", "exception", "on command", "checklists"] {
            assert!(!body.to_string().to_lowercase().contains(word), "{body}");
        }
        assert_eq!(world.post(&world.home.key, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await.status(), 200);
    }))
    .await;
}
