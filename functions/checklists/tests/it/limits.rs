//! How many calls a key and an organisation may make, on all instances together.

use std::time::Duration;

use http::StatusCode;
use jiff::SignedDuration;
use onepost_cloud::limits::Limits;
use serde_json::{Value, json};

use crate::world::World;

const FEW: Limits = Limits { window: Duration::from_secs(10), per_key: 40, per_organisation: 100 };
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

/// Knocks so often, and counts who was let in.
async fn let_in(world: &World, key: &str, times: usize) -> usize {
    let mut admitted = 0;
    for _ in 0..times {
        match world.post(key, LIST).await.status() {
            StatusCode::OK => admitted += 1,
            status => assert_eq!(status, StatusCode::TOO_MANY_REQUESTS),
        }
    }
    admitted
}

#[tokio::test]
async fn a_key_that_calls_too_often_is_told_when_to_come_back() {
    let mut world = World::new().await;
    world.limit_to(FEW);
    world.clock.advance(SignedDuration::from_secs(3));
    let_in(&world, &world.home.key, 60).await;
    let refused = world.post(&world.home.key, LIST).await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused.headers()["retry-after"], "7");
    let body: Value = serde_json::from_slice(refused.body()).unwrap();
    assert_eq!((&body["id"], &body["error"]["code"]), (&Value::Null, &json!(-32600)));
    assert!(body["error"]["message"].as_str().unwrap().contains("Try again in 7 s"), "{body}");
    world.clock.advance(SignedDuration::from_secs(7));
    assert_eq!(world.post(&world.home.key, LIST).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_limit_holds_across_instances() {
    let mut world = World::new().await;
    let mut admitted = 0;
    for _ in 0..4 {
        world.limit_to(FEW);
        admitted += let_in(&world, &world.home.key.clone(), 40).await;
    }
    // Each instance lets some calls in before it asks the others: at most 4 of these.
    assert!((40..=40 + 4 * 4).contains(&admitted), "{admitted} calls");
}

#[tokio::test]
async fn an_organisation_at_its_limit_leaves_others_unharmed() {
    let mut world = World::new().await;
    let other = world.another("Other").await;
    let (home, owner) = (&world.home.organisation.id, &world.home.owner.user_id);
    let mut keys = Vec::new();
    for _ in 0..4 {
        keys.push(world.desk.mint_key(home, owner, "agent", None).await.unwrap().plain.reveal().to_owned());
    }
    world.limit_to(FEW);
    let mut admitted = 0;
    for key in &keys {
        admitted += let_in(&world, key, 60).await;
    }
    assert!((100..=104).contains(&admitted), "{admitted} calls of all keys");
    assert_eq!(let_in(&world, &other.key, 30).await, 30);
}

/// What is refused writes nothing: neither a count nor the hour of the key's use.
#[tokio::test]
async fn a_call_that_is_refused_costs_nothing() {
    let mut world = World::new().await;
    world.limit_to(FEW);
    let_in(&world, &world.home.key, 60).await;
    let before = world.rows();
    let (response, usage) = onepost_cloud::table::measured(world.post(&world.home.key, LIST)).await;
    assert_eq!((response.status(), usage), (StatusCode::TOO_MANY_REQUESTS, Default::default()));
    assert_eq!(world.rows(), before);
}
