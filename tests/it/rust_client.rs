//! The official Rust client, in each of its ways to begin. What it does here stands in `docs/clients.md`, beside the others.

use rmcp::model::{CallToolRequestParams, CallToolResult, ErrorCode, ProtocolVersion};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};

use crate::stack::Local;

type Client = RunningService<RoleClient, ()>;
type Transport = StreamableHttpClientTransport<reqwest::Client>;

async fn connect(local: &Local, key: &str, mode: ClientLifecycleMode) -> Result<Client, ClientInitializeError> {
    let config = StreamableHttpClientTransportConfig::with_uri(local.mcp()).auth_header(key);
    ().serve_with_lifecycle(Transport::from_config(config), mode).await
}

async fn answer(client: &Client, tool: &'static str, arguments: Value) -> Result<CallToolResult, ServiceError> {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> Value {
    let result = answer(client, tool, arguments).await.unwrap();
    assert_ne!(result.is_error, Some(true), "{result:?}");
    result.structured_content.unwrap()
}

/// Lists assets, writes a template, dispatches a run and reads it back.
async fn does_the_main_job(client: &Client) {
    assert_eq!(client.list_all_tools().await.unwrap().len(), 17);
    let assets = call(client, "list_assets", json!({})).await;
    let asset = &assets["data"][0];
    assert_eq!(asset["name"], "Seagull Flat");
    let steps = json!([{ "type": "boolean", "label": "Are the windows shut?" }]);
    let template = call(client, "create_template", json!({ "name": "Storm watch", "sections": [{ "steps": steps }] })).await;
    let run = call(client, "create_run", json!({ "template_id": template["id"], "asset_id": asset["id"] })).await;
    let read = call(client, "get_run", json!({ "run_id": run["run_id"] })).await;
    assert_eq!(
        (&read["status"], &read["template_name"], &read["asset"]["name"]),
        (&json!("pending"), &json!("Storm watch"), &asset["name"])
    );
    assert_eq!(read["progress"], json!({ "total": 1, "answered": 0, "skipped": 0 }));
}

async fn is_refused_in_the_tools_own_words(client: &Client) {
    let result = answer(client, "get_asset", json!({ "asset_id": "a-00000000-0000-7000-8000-000000000000" })).await.unwrap();
    assert_eq!(result.is_error, Some(true));
    let text = result.content[0].as_text().unwrap().text.clone();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["error"], "asset_not_found");
    let wrong = answer(client, "get_asset", json!({ "asset": "x" })).await.unwrap_err();
    let ServiceError::McpError(wrong) = wrong else { panic!("{wrong:?}") };
    assert_eq!(wrong.code, ErrorCode::INVALID_PARAMS);
    assert!(wrong.message.contains("/asset_id is required"), "{wrong:?}");
}

async fn is_stopped_at_the_door_with_a_bad_key(local: &Local, mode: ClientLifecycleMode) {
    let told = format!("{:?}", connect(local, "rdk_live_wrong", mode).await.unwrap_err());
    assert!(told.contains("AuthRequired"), "{told}");
}

/// Everything, in one mode.
async fn does_all(name: &str, begins: &str, mode: ClientLifecycleMode, version: ProtocolVersion) {
    let local = Local::start().await;
    let client = connect(&local, local.key(), mode.clone()).await.unwrap();
    assert_eq!(client.peer_info().unwrap().protocol_version, version);
    does_the_main_job(&client).await;
    is_refused_in_the_tools_own_words(&client).await;
    client.cancel().await.unwrap();
    is_stopped_at_the_door_with_a_bad_key(&local, mode).await;
    is_documented(name, begins, &version);
}

/// The documentation has this mode's row, with the version that is locked.
fn is_documented(name: &str, begins: &str, version: &ProtocolVersion) {
    let (_, locked) = include_str!("../../Cargo.lock").split_once("name = \"rmcp\"\nversion = \"").unwrap();
    let (locked, _) = locked.split_once('"').unwrap();
    let row = ["crate `rmcp`", locked, name, begins, version.as_str(), "ok", "ok", "ok", "ok", "ok"];
    let mut lines = include_str!("../../docs/clients.md").lines();
    assert!(lines.any(|line| line.trim_matches('|').split('|').map(str::trim).eq(row)), "docs/clients.md lacks {row:?}");
}

#[tokio::test]
async fn by_a_handshake() {
    // Its default. It asks for 2026-07-28 by a handshake, which that version does not have.
    does_all("Initialize", "initialize", ClientLifecycleMode::Initialize, ProtocolVersion::V_2025_11_25).await;
}

#[tokio::test]
async fn by_discovery() {
    let mode = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    does_all("Discover", "server/discover", mode, ProtocolVersion::V_2026_07_28).await;
}

#[tokio::test]
async fn by_discovery_or_else_a_handshake() {
    let mode = ClientLifecycleMode::Auto { preferred_versions: vec![ProtocolVersion::V_2026_07_28], legacy_version: None };
    does_all("Auto", "server/discover", mode, ProtocolVersion::V_2026_07_28).await;
}
