//! API keys at the door: which open it, what is kept of them, and what it costs.

use checklists::KEYS;
use checklists::members::Role;
use dynoxide::AttributeValue;
use http::StatusCode;
use jiff::SignedDuration;
use onepost_cloud::table::faults::Fault;
use onepost_cloud::table::{Usage, measured};
use onepost_core::auth::{KNOWN_FOR, Pepper, Peppers};
use onepost_core::http::Response;
use onepost_core::id::{Entropy, Ids};
use serde_json::json;

use crate::world::World;

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

async fn knock(world: &World, key: &str) -> (StatusCode, Usage) {
    let (response, usage) = measured(world.post(key, LIST)).await;
    (response.status(), usage)
}

fn refused_in_full(response: &Response) -> (StatusCode, Vec<(String, String)>, String) {
    let headers = response.headers().iter().filter(|(name, _)| *name != "x-request-id");
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
    (response.status(), headers, String::from_utf8(response.body().to_vec()).unwrap())
}

/// Chance that draws this text first, so that a key can be made with the id of another one.
struct Dictated(String);

impl Entropy for Dictated {
    fn fill(&self, bytes: &mut [u8]) {
        let alphabet = ('0'..='9').chain('A'..='Z').chain('a'..='z');
        bytes.fill(7);
        for (byte, letter) in bytes.iter_mut().zip(self.0.chars()) {
            *byte = u8::try_from(alphabet.clone().position(|of| of == letter).unwrap()).unwrap();
        }
    }
}

/// Two versions of the pepper. The world begins with version 1.
fn peppers(current: u8, previous: Option<u8>) -> Peppers {
    let pepper = |version: u8| Pepper::new(&version.to_string(), [version + 6; 32]);
    Peppers::new(pepper(current), previous.map(pepper))
}

/// All binary values in a value.
fn blobs(value: &AttributeValue) -> Vec<&[u8]> {
    match value {
        AttributeValue::B(blob) => vec![blob],
        AttributeValue::M(members) => members.values().flat_map(blobs).collect(),
        AttributeValue::L(items) => items.iter().flat_map(blobs).collect(),
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn a_text_that_is_no_key_is_refused_without_a_look_at_the_table() {
    let world = World::new().await;
    let key = &world.home.key;
    let typo = format!("{}{}", &key[..30], if key.as_bytes()[30] == b'x' { "y" } else { "x" }) + &key[31..];
    for text in ["", "x", "rdk_live_", &typo, &key[..48], &format!("{key}0"), &"x".repeat(100_000), &key.replace("rdk_live", "rdk_test")] {
        let (status, usage) = knock(&world, text).await;
        assert_eq!((status, usage), (StatusCode::UNAUTHORIZED, Usage::default()), "{text:.60}");
    }
}

#[tokio::test]
async fn unknown_revoked_and_expired_keys_and_a_wrong_secret_are_told_the_same() {
    let world = World::new().await;
    let (home, owner) = (&world.home.organisation.id, &world.home.owner.user_id);
    let id = world.home.key["rdk_live_".len()..][..12].to_owned();
    let forged = KEYS.mint(&Ids::from_entropy(Dictated(id.clone())));
    assert_eq!(forged.id(), id, "another secret under an id that is known");
    assert_eq!(knock(&world, &world.home.key).await.0, StatusCode::OK);

    let revoked = world.desk.mint_key(home, owner, "revoked", None).await.unwrap();
    assert_eq!(knock(&world, revoked.plain.reveal()).await.0, StatusCode::OK);
    world.desk.revoke_key(home, &revoked.record.id).await.unwrap();
    let end = world.now() + SignedDuration::from_mins(1);
    let expiring = world.desk.mint_key(home, owner, "expiring", Some(end)).await.unwrap();
    world.clock.advance(SignedDuration::from_mins(1) - SignedDuration::from_millis(1));
    assert_eq!(knock(&world, expiring.plain.reveal()).await.0, StatusCode::OK);
    world.clock.advance(SignedDuration::from_millis(1));

    let malformed = refused_in_full(&world.post("rdk_live_x", LIST).await);
    assert_eq!(malformed.0, StatusCode::UNAUTHORIZED);
    assert!(malformed.1.contains(&("www-authenticate".into(), "Bearer".into())), "{malformed:?}");
    let unknown = KEYS.mint(&Ids::default());
    for key in [&unknown, &forged, &revoked.plain, &expiring.plain] {
        assert_eq!(refused_in_full(&world.post(key.reveal(), LIST).await), malformed);
    }
}

/// An id without a key is looked for once in five seconds, however often somebody tries; a key once in half a minute.
#[tokio::test]
async fn a_key_that_was_read_a_moment_ago_is_not_read_again() {
    let world = World::new().await;
    let key = world.home.key.clone();
    let unknown = KEYS.mint(&Ids::default());
    let read_once = Usage { reads: 1.0, writes: 0.0, round_trips: 1 };
    knock(&world, &key).await;
    for (key, status, seconds) in [(key.as_str(), StatusCode::OK, 30), (unknown.reveal(), StatusCode::UNAUTHORIZED, 5)] {
        world.clock.advance(SignedDuration::from_secs(60));
        assert_eq!(knock(&world, key).await, (status, read_once));
        for _ in 0..20 {
            assert_eq!(knock(&world, key).await, (status, Usage::default()));
        }
        world.clock.advance(SignedDuration::from_secs(seconds) - SignedDuration::from_millis(1));
        assert_eq!(knock(&world, key).await, (status, Usage::default()));
        world.clock.advance(SignedDuration::from_millis(1));
        assert_eq!(knock(&world, key).await, (status, read_once));
    }
}

/// The window of a revoked key: tools that read, for half a minute, where it was read just before. Nothing else.
#[tokio::test]
async fn a_revoked_key_reads_for_half_a_minute_at_most_and_writes_nothing_from_then_on() {
    let world = World::new().await;
    let (home, owner) = (&world.home.organisation.id, &world.home.owner.user_id);
    let (asset, template) = (world.asset("Van").await, world.template().await);
    let run = world.run(json!({ "template_id": template })).await;
    let (mia, _) = world.colleague("mia@home.example", Role::Member).await;
    let writing = [
        ("create_asset", json!({ "name": "Bus" })),
        ("update_asset", json!({ "asset_id": asset, "name": "Bus" })),
        ("delete_asset", json!({ "asset_id": asset })),
        ("create_template", json!({ "name": "New" })),
        ("update_template", json!({ "template_id": template, "name": "New" })),
        ("delete_template", json!({ "template_id": template })),
        ("create_run", json!({ "template_id": template })),
        ("delete_run", json!({ "run_id": run })),
        ("invite_member", json!({ "email": "new@home.example" })),
        ("remove_member", json!({ "user_id": mia.user_id })),
    ];
    let key = world.desk.mint_key(home, owner, "leaked", None).await.unwrap();
    for (tool, arguments) in &writing {
        let minted = world.desk.mint_key(home, owner, "leaked", None).await.unwrap();
        assert_eq!(knock(&world, minted.plain.reveal()).await.0, StatusCode::OK);
        world.desk.revoke_key(home, &minted.record.id).await.unwrap();
        let before = world.rows();
        assert_eq!(knock(&world, minted.plain.reveal()).await.0, StatusCode::OK, "it was read just before");
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments } });
        assert_eq!(world.post(minted.plain.reveal(), call.to_string()).await.status(), StatusCode::UNAUTHORIZED, "{tool}");
        assert_eq!(world.rows(), before, "{tool}");
        assert_eq!(knock(&world, minted.plain.reveal()).await.0, StatusCode::UNAUTHORIZED, "{tool}: it is known to have ended now");
    }
    assert_eq!(knock(&world, key.plain.reveal()).await.0, StatusCode::OK);
    world.desk.revoke_key(home, &key.record.id).await.unwrap();
    world.clock.advance(SignedDuration::from_secs(30) - SignedDuration::from_millis(1));
    assert_eq!(knock(&world, key.plain.reveal()).await.0, StatusCode::OK);
    world.clock.advance(SignedDuration::from_millis(1));
    assert_eq!(knock(&world, key.plain.reveal()).await.0, StatusCode::UNAUTHORIZED);
}

/// A key that ends between its check and the write: what deletes for good checks it in its own transaction.
#[tokio::test]
async fn a_key_that_ends_during_the_call_deletes_nothing() {
    let world = World::new().await;
    let (home, owner) = (&world.home.organisation.id, &world.home.owner.user_id);
    let (asset, template) = (world.asset("Van").await, world.template().await);
    let run = world.run(json!({ "template_id": template })).await;
    let (mia, _) = world.colleague("mia@home.example", Role::Member).await;
    for (tool, arguments) in [
        ("delete_asset", json!({ "asset_id": asset })),
        ("delete_template", json!({ "template_id": template })),
        ("delete_run", json!({ "run_id": run })),
        ("remove_member", json!({ "user_id": mia.user_id })),
    ] {
        let key = world.desk.mint_key(home, owner, "leaked", None).await.unwrap();
        let (arrived, release) = world.faults.hold("TransactWriteItems");
        let deleting = world.call_with(key.plain.reveal(), tool, arguments.clone());
        let revoking = async {
            arrived.await.unwrap();
            world.desk.revoke_key(home, &key.record.id).await.unwrap();
            release.send(()).unwrap();
        };
        let (said, ()) = tokio::join!(deleting, revoking);
        assert_eq!(said.code(), "key_ended", "{tool}");
        world.call(tool, arguments).await.done();
    }
}

#[tokio::test]
async fn a_rotated_key_works_until_the_overlap_is_over() {
    let world = World::new().await;
    let (home, owner) = (&world.home.organisation.id, &world.home.owner.user_id);
    let old = world.desk.mint_key(home, owner, "ci", None).await.unwrap();
    let new = world.desk.rotate_key(home, &old.record.id, SignedDuration::from_hours(1)).await.unwrap();
    let opens = async |key: &str| knock(&world, key).await.0 == StatusCode::OK;
    assert!(opens(old.plain.reveal()).await && opens(new.plain.reveal()).await);
    world.clock.advance(SignedDuration::from_hours(1));
    assert!(!opens(old.plain.reveal()).await && opens(new.plain.reveal()).await);
}

#[tokio::test]
async fn the_hour_of_use_is_written_once_an_hour() {
    let world = World::new().await;
    let used = |writes| (StatusCode::OK, Usage { reads: 1.0, writes, round_trips: 1 + u64::from(writes > 0.0) });
    assert_eq!(knock(&world, &world.home.key).await, used(1.0));
    for _ in 0..3 {
        world.clock.advance(SignedDuration::from_mins(15));
        assert_eq!(knock(&world, &world.home.key).await, used(0.0));
    }
    world.clock.advance(SignedDuration::from_mins(15));
    assert_eq!(knock(&world, &world.home.key).await, used(1.0));
    let keys = world.desk.keys(&world.home.organisation.id).await.unwrap();
    assert_eq!(keys[0].last_used_at, Some(world.now()));
}

/// Noting the use is a kindness to whoever looks at the list of keys; the caller does not depend on it.
#[tokio::test]
async fn a_caller_is_let_in_though_the_use_cannot_be_noted() {
    let world = World::new().await;
    for _ in 0..20 {
        world.faults.next("UpdateItem", Fault::ServerError);
    }
    assert_eq!(knock(&world, &world.home.key).await.0, StatusCode::OK);
    assert!(world.faults.left() < 20, "it was tried");
}

#[tokio::test]
async fn a_key_outlives_a_rotation_of_the_pepper_and_is_hashed_anew_at_its_next_use() {
    let mut world = World::new().await;
    let key = world.home.key.clone();
    knock(&world, &key).await;
    world.serve_with(peppers(2, Some(1)));
    // Used this hour already, and written all the same.
    assert_eq!(knock(&world, &key).await, (StatusCode::OK, Usage { reads: 1.0, writes: 1.0, round_trips: 2 }));
    world.clock.advance(KNOWN_FOR);
    assert_eq!(knock(&world, &key).await.1, Usage { reads: 1.0, writes: 0.0, round_trips: 1 });
    world.serve_with(peppers(3, Some(2)));
    assert_eq!(knock(&world, &key).await.0, StatusCode::OK);
    // One that slept through two rotations is lost.
    world.serve_with(peppers(5, Some(4)));
    assert_eq!(knock(&world, &key).await.0, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn the_table_holds_a_digest_and_no_piece_of_the_secret() {
    let world = World::new().await;
    let key = &world.home.key;
    let (id, secret) = (&key["rdk_live_".len()..][..12], &key["rdk_live_".len() + 12..][..22]);
    world.call("create_asset", json!({ "name": "Van" })).await.done();
    let rows = world.rows();
    let row = rows.iter().find(|row| row["pk"] == AttributeValue::S(format!("K#{id}"))).unwrap();
    assert_eq!(row.values().flat_map(blobs).map(<[u8]>::len).collect::<Vec<_>>(), [32], "{row:?}");
    for row in &rows {
        let (text, bytes) = (format!("{row:?}"), row.values().flat_map(blobs).collect::<Vec<_>>().concat());
        for piece in secret.as_bytes().windows(6) {
            let piece = std::str::from_utf8(piece).unwrap();
            assert!(
                !text.contains(piece) && !bytes.windows(6).any(|window| window == piece.as_bytes()),
                "{piece} of the secret is in {text}"
            );
        }
    }
}

#[tokio::test]
async fn a_key_goes_on_without_its_maker_but_manages_no_members() {
    let world = World::new().await;
    let (ada, key) = world.colleague("ada@home.example", Role::Owner).await;
    let (mia, _) = world.colleague("mia@home.example", Role::Member).await;
    world.call("remove_member", json!({ "user_id": ada.user_id })).await.done();
    let call = |tool: &'static str, arguments| world.call_with(&key, tool, arguments);
    assert_eq!(call("invite_member", json!({ "email": "new@home.example" })).await.code(), "forbidden");
    assert_eq!(call("remove_member", json!({ "user_id": mia.user_id })).await.code(), "forbidden");
    let template = world.template().await;
    let run = call("create_run", json!({ "template_id": template })).await.done();
    let read = call("get_run", json!({ "run_id": run["run_id"] })).await.done();
    assert_eq!(read["created_by"], ada.user_id);
    for (tool, arguments) in [("list_runs", json!({})), ("list_members", json!({})), ("delete_run", json!({ "run_id": run["run_id"] }))] {
        call(tool, arguments).await.done();
    }
}
