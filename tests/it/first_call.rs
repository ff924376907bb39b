//! What a newcomer does first, with nothing but an HTTP client.

use serde_json::{Value, json};

use crate::stack::Local;

const TOOLS: [&str; 17] = [
    "list_assets",
    "get_asset",
    "create_asset",
    "update_asset",
    "delete_asset",
    "list_templates",
    "get_template",
    "create_template",
    "update_template",
    "delete_template",
    "create_run",
    "get_run",
    "list_runs",
    "delete_run",
    "list_members",
    "invite_member",
    "remove_member",
];

#[tokio::test]
async fn the_list_of_tools_needs_no_handshake_and_no_accept_header() {
    let local = Local::start().await;
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    for accept in [None, Some("application/json, text/event-stream")] {
        let mut request = reqwest::Client::new().post(local.mcp()).bearer_auth(local.key()).json(&message);
        if let Some(accept) = accept {
            request = request.header("accept", accept);
        }
        let response = request.send().await.unwrap();
        assert_eq!((response.status().as_u16(), response.headers()["content-type"].to_str().unwrap()), (200, "application/json"));
        let listed: Value = response.json().await.unwrap();
        let names: Vec<&str> = listed["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, TOOLS);
    }
}

#[tokio::test]
async fn a_run_of_the_demo_template_is_dispatched_with_a_link_and_an_end() {
    let local = Local::start().await;
    let template = local.demo_template().await;
    let arguments = json!({ "template_id": template, "executor_ref": "booking_9f2a3b", "expires_in_hours": 24 });
    let answer = local.call("create_run", arguments).await;
    let text: Value = serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    let members: Vec<&String> = text.as_object().unwrap().keys().collect();
    assert_eq!(members, ["run_id", "link", "expires_at"]);
    let run_id = text["run_id"].as_str().unwrap();
    assert_eq!(text["link"], format!("{}/checklists/r/{run_id}", local.running.base_url));
    assert!(text["expires_at"].as_str().unwrap().ends_with('Z'));
}

#[tokio::test]
async fn what_was_written_is_there_after_a_restart_and_the_key_still_opens_it() {
    let local = Local::start().await;
    let key = local.key().to_owned();
    let template = local.demo_template().await;
    let run = local.call("create_run", json!({ "template_id": template })).await;
    let run_id = run["result"]["structuredContent"]["run_id"].clone();
    let local = local.restart().await;
    assert_eq!(local.key(), key);
    assert!(!local.running.checklists.is_first_start);
    let read = local.call("get_run", json!({ "run_id": run_id })).await;
    assert_eq!(read["result"]["structuredContent"]["status"], "pending");
}

#[tokio::test]
async fn the_endpoints_file_has_the_url_and_a_key_and_is_private() {
    let local = Local::start().await;
    let file = local.folder.path().join("endpoints.json");
    let endpoints: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(endpoints, json!({ "checklists": { "mcp": local.mcp(), "key": local.key() } }));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[tokio::test]
async fn where_the_endpoints_file_was_lost_a_new_key_is_made() {
    let local = Local::start().await;
    let (key, folder) = (local.key().to_owned(), local.folder.path().join("endpoints.json"));
    std::fs::remove_file(folder).unwrap();
    let local = local.restart().await;
    assert_ne!(local.key(), key);
    assert_eq!(local.call("list_members", json!({})).await["result"]["structuredContent"]["data"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn without_a_valid_key_the_answer_is_401_in_plain_text() {
    let local = Local::start().await;
    let other = if local.key().ends_with('x') { 'y' } else { 'x' };
    let wrong = format!("{}{other}", &local.key()[..local.key().len() - 1]);
    for key in ["", "rdk_live_nonsense", &wrong] {
        let response = reqwest::Client::new().post(local.mcp()).bearer_auth(key).json(&json!({})).send().await.unwrap();
        assert_eq!(response.status(), 401);
        assert_eq!(response.headers()["www-authenticate"], "Bearer");
        assert!(response.text().await.unwrap().starts_with("Unauthorized."));
    }
}

#[tokio::test]
async fn an_invitation_is_written_into_the_mail_folder() {
    let local = Local::start().await;
    let answer = local.call("invite_member", json!({ "email": "nina@harbour.example" })).await;
    assert_eq!(answer["result"]["structuredContent"]["status"], "pending");
    let mails: Vec<_> = std::fs::read_dir(local.folder.path().join("mail")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(mails.len(), 1);
    let mail = std::fs::read_to_string(&mails[0]).unwrap();
    assert!(mail.contains("To: nina@harbour.example"), "{mail}");
}

#[tokio::test]
async fn an_imported_stack_has_the_runs_and_opens_with_the_same_key() {
    let local = Local::start().await;
    let (key, run) = (local.key().to_owned(), json!({ "template_id": local.demo_template().await }));
    local.call("create_run", run).await;
    local.running.stop().await.unwrap();
    let mut lines = Vec::new();
    local::transfer::export(local.folder.path(), &mut lines).unwrap();

    let elsewhere = tempfile::tempdir().unwrap();
    local::transfer::import(elsewhere.path(), lines.as_slice()).unwrap();
    let options = local::stack::Options { port: 0, data: elsewhere.path().to_owned() };
    let running = local::stack::Stack::start(options).await.unwrap();
    let local = Local { running, folder: elsewhere };
    let listed = local.call_with(&key, "list_runs", json!({})).await;
    assert_eq!(listed["result"]["structuredContent"]["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_number_comes_back_to_the_last_digit() {
    let local = Local::start().await;
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_asset","arguments":
        {"name":"Van","fields":{"latitude":31.245270191439438}}}}"#;
    let request = reqwest::Client::new().post(local.mcp()).bearer_auth(local.key()).header("content-type", "application/json");
    let answer = request.body(message).send().await.unwrap().text().await.unwrap();
    assert_eq!(answer.matches("31.245270191439438").count(), 2, "{answer}");
}
