//! The operator's command line beside a running stack.

use admin::cli::Cli;
use clap::Parser;
use serde_json::{Value, json};

use crate::stack::Local;

/// Runs a command line and gives what it prints as JSON.
async fn admin(local: &Local, arguments: &[&str]) -> Result<Value, Value> {
    let data = local.folder.path().to_str().unwrap();
    let line = ["onepost-admin", "--json", "--data", data].into_iter().chain(arguments.iter().copied());
    let read = |text: String| serde_json::from_str(&text).unwrap();
    match Cli::try_parse_from(line).unwrap().run().await {
        Ok(answer) => Ok(read(answer.printed(true))),
        Err(failure) => Err(read(failure.printed(true))),
    }
}

fn text<'v>(value: &'v Value, member: &str) -> &'v str {
    value[member].as_str().unwrap()
}

/// Whether a key opens the endpoint.
async fn is_served(local: &Local, key: &str, method: &str, params: Value) -> bool {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let response = reqwest::Client::new().post(local.mcp()).bearer_auth(key).json(&message).send().await.unwrap();
    response.status() == 200
}

/// Whether the key opens what only reads.
async fn opens(local: &Local, key: &str) -> bool {
    is_served(local, key, "tools/list", json!({})).await
}

/// Whether the key opens what writes, for which it is read anew.
async fn writes(local: &Local, key: &str) -> bool {
    is_served(local, key, "tools/call", json!({ "name": "create_asset", "arguments": { "name": "Van" } })).await
}

#[tokio::test]
async fn an_organisation_is_made_with_an_owner_whose_key_opens_it() {
    let local = Local::start().await;
    let made = admin(&local, &["org", "create", "Acme", "--owner-name", "Ann", "--owner-email", "Ann@Acme.example"]).await.unwrap();
    assert_eq!(made["owner"]["email"], "ann@acme.example");
    let (org, owner) = (text(&made["organisation"], "id"), text(&made["owner"], "user_id"));
    let key = admin(&local, &["keys", "mint", org, "--creator", owner, "--name", "agent"]).await.unwrap();
    let listed = local.call_with(text(&key, "key"), "list_members", json!({})).await;
    assert_eq!(listed["result"]["structuredContent"]["data"][0]["name"], "Ann");
    let assets = local.call_with(text(&key, "key"), "list_assets", json!({})).await;
    assert_eq!(assets["result"]["structuredContent"]["data"], json!([]), "nothing of the demo organisation");
}

#[tokio::test]
async fn keys_are_listed_without_their_secret_revoked_and_rotated() {
    let local = Local::start().await;
    let org = local.running.checklists.organisation.clone();
    let members = admin(&local, &["members", "list", &org]).await.unwrap();
    let owner = text(&members["data"][0], "user_id");
    let first = admin(&local, &["keys", "mint", &org, "--creator", owner, "--name", "one", "--expires-in-days", "30"]).await.unwrap();
    assert!(opens(&local, text(&first, "key")).await);

    let listed = admin(&local, &["keys", "list", &org]).await.unwrap();
    let shown = listed["data"].as_array().unwrap().iter().find(|key| key["id"] == first["id"]).unwrap();
    assert_eq!(shown["last_four"].as_str().unwrap(), &text(&first, "key")[text(&first, "key").len() - 4..]);
    assert!(shown["last_used_at"].is_string(), "it was used: {shown}");
    assert!(!listed.to_string().contains(&text(&first, "key")[21..43]), "the secret is shown once");

    let second = admin(&local, &["keys", "rotate", &org, text(&first, "id")]).await.unwrap();
    assert!(opens(&local, text(&first, "key")).await, "both work for a day");
    assert!(opens(&local, text(&second, "key")).await);
    admin(&local, &["keys", "revoke", &org, text(&first, "id")]).await.unwrap();
    assert!(!writes(&local, text(&first, "key")).await, "revoked with the next call that writes");
    assert!(!opens(&local, text(&first, "key")).await, "and known to be from then on");
    assert_eq!(second["expires_at"].as_str().map(|end| end > text(&first, "expires_at")), Some(true), "a lifetime of its own");
    let third = admin(&local, &["keys", "rotate", &org, text(&second, "id"), "--overlap-hours", "0"]).await.unwrap();
    assert!(!writes(&local, text(&second, "key")).await);
    assert!(opens(&local, text(&third, "key")).await);
}

#[tokio::test]
async fn a_smaller_plan_bites_at_once() {
    let local = Local::start().await;
    let org = local.running.checklists.organisation.clone();
    let changed = admin(&local, &["org", "set-plan", &org, "--assets", "1", "--runs", "0"]).await.unwrap();
    assert_eq!((&changed["max_assets"], &changed["max_runs"], &changed["n_assets"]), (&json!(1), &json!(0), &json!(1)));
    for (tool, arguments) in
        [("create_asset", json!({ "name": "Second" })), ("create_run", json!({ "template_id": local.demo_template().await }))]
    {
        let refused = local.call(tool, arguments).await;
        let error: Value = serde_json::from_str(refused["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(error["error"], "quota_exceeded", "{tool}");
    }
}

#[tokio::test]
async fn members_are_added_changed_and_removed_and_an_owner_is_always_left() {
    let local = Local::start().await;
    let org = local.running.checklists.organisation.clone();
    let added = admin(&local, &["members", "add", &org, "--name", "Bo", "--email", "bo@harbour.example", "--role", "admin"]).await.unwrap();
    let bo = text(&added, "user_id").to_owned();
    let owner = admin(&local, &["members", "list", &org]).await.unwrap()["data"][0]["user_id"].as_str().unwrap().to_owned();
    let refused = admin(&local, &["members", "set-role", &org, &owner, "member"]).await.unwrap_err();
    assert_eq!(refused["error"], "cannot_remove_owner");
    admin(&local, &["members", "set-role", &org, &bo, "owner"]).await.unwrap();
    admin(&local, &["members", "set-role", &org, &owner, "member"]).await.unwrap();
    assert_eq!(admin(&local, &["members", "remove", &org, &bo]).await.unwrap_err()["error"], "cannot_remove_owner");
    admin(&local, &["members", "remove", &org, &owner]).await.unwrap();
    assert_eq!(admin(&local, &["members", "list", &org]).await.unwrap()["data"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn what_is_not_there_is_told_in_one_line() {
    let local = Local::start().await;
    assert_eq!(admin(&local, &["org", "show", "org-none"]).await.unwrap_err()["error"], "organisation_not_found");
    let org = local.running.checklists.organisation.clone();
    assert_eq!(admin(&local, &["keys", "revoke", &org, "none"]).await.unwrap_err()["error"], "key_not_found");
    assert_eq!(
        admin(&local, &["keys", "mint", &org, "--creator", "u-none", "--name", "x"]).await.unwrap_err()["error"],
        "member_not_found"
    );

    assert_eq!(admin(&local, &["org", "set-plan", &org]).await.unwrap_err()["error"], "invalid_argument", "nothing was named");

    let nowhere = tempfile::tempdir().unwrap();
    let line = ["onepost-admin", "--data", nowhere.path().to_str().unwrap(), "org", "show", "org-1"];
    let failure = Cli::try_parse_from(line).unwrap().run().await.unwrap_err().printed(false);
    assert!(failure.starts_with("No local stack runs on ") && !failure.contains('\n'), "{failure}");
}

#[tokio::test]
async fn a_key_without_an_end_is_replaced_by_one_without_an_end_however_often() {
    let local = Local::start().await;
    let org = local.running.checklists.organisation.clone();
    let key = admin(&local, &["keys", "list", &org]).await.unwrap()["data"][0]["id"].as_str().unwrap().to_owned();
    for _ in 0..2 {
        let new = admin(&local, &["keys", "rotate", &org, &key]).await.unwrap();
        assert_eq!(new.get("expires_at"), None, "{new}");
    }
}
