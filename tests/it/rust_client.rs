//! The official Rust client, in each of its ways to begin.

use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};

use crate::stack::Local;

type Client = RunningService<RoleClient, ()>;
type Transport = StreamableHttpClientTransport<reqwest::Client>;

fn transport(local: &Local, key: &str) -> Transport {
    StreamableHttpClientTransport::from_config(StreamableHttpClientTransportConfig::with_uri(local.mcp()).auth_header(key))
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> Value {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let result = client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await.unwrap();
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

#[tokio::test]
async fn by_a_handshake() {
    let local = Local::start().await;
    let client = ().serve(transport(&local, local.key())).await.unwrap();
    // It asks for 2026-07-28 by a handshake, which that version does not have.
    assert_eq!(client.peer_info().unwrap().protocol_version, ProtocolVersion::V_2025_11_25);
    does_the_main_job(&client).await;
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn by_discovery_and_without_a_handshake() {
    let local = Local::start().await;
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    for mode in [
        ClientLifecycleMode::Discover { preferred_versions: preferred_versions.clone() },
        ClientLifecycleMode::Auto { preferred_versions, legacy_version: None },
    ] {
        let client = ().serve_with_lifecycle(transport(&local, local.key()), mode).await.unwrap();
        does_the_main_job(&client).await;
        client.cancel().await.unwrap();
    }
}

#[tokio::test]
async fn a_refusal_reaches_the_client_as_the_tools_own_words() {
    let local = Local::start().await;
    let client = ().serve(transport(&local, local.key())).await.unwrap();
    let arguments = json!({ "run_id": "r-550e8400-e29b-41d4-a716-446655440000" });
    let Value::Object(arguments) = arguments else { unreachable!() };
    let result = client.call_tool(CallToolRequestParams::new("get_run").with_arguments(arguments)).await.unwrap();
    assert_eq!(result.is_error, Some(true));
    let text = result.content[0].as_text().unwrap().text.clone();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["error"], "run_not_found");
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn a_bad_key_stops_the_client_at_the_door() {
    let local = Local::start().await;
    let refused = ().serve(transport(&local, "rdk_live_wrong")).await.unwrap_err();
    let told = format!("{refused:?}");
    assert!(told.contains("401") || told.to_lowercase().contains("unauthorized") || told.contains("AuthRequired"), "{told}");
}
