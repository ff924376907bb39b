//! The most memory that the shipped function ever had, after 10,000 calls of all kinds.

use std::path::Path;

use serde_json::{Value, json};

use crate::Failed;
use crate::function::{Function, event};
use crate::ground::Ground;
use crate::report::Row;

const CALLS: usize = 10_000;

/// The row.
pub async fn rows(function: &Path) -> Result<Vec<Row>, Failed> {
    let ground = Ground::new().await?;
    let tenant = ground.tenant().await?;
    let mut function = Function::start(&[], function, &ground).await?;
    let process = function.process_id().ok_or("the function has ended")?;
    let key = &tenant.key;
    let tool = |name: &str, arguments: Value| {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": arguments } });
        event("POST", key, &message.to_string())
    };
    let steps: Vec<Value> =
        (0..40).map(|step| json!({ "type": "boolean", "label": format!("Is part {step} clean?"), "required": true })).collect();
    let template = function.invoke(&tool("create_template", json!({ "name": "Check", "sections": [{ "steps": steps }] }))).await?;
    let template = &template.body["result"]["structuredContent"]["id"];
    let asset = function.invoke(&tool("create_asset", json!({ "name": "Van" }))).await?;
    let asset = &asset.body["result"]["structuredContent"]["id"];
    let run = function.invoke(&tool("create_run", json!({ "template_id": template }))).await?;
    let run = &run.body["result"]["structuredContent"]["run_id"];
    let large = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"filler":"{}"}}}}"#, "x".repeat(900_000));
    let events = [
        event("POST", key, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#),
        tool("get_asset", json!({ "asset_id": asset })),
        tool("list_assets", json!({})),
        tool("get_template", json!({ "template_id": template })),
        tool("get_run", json!({ "run_id": run })),
        tool("list_runs", json!({ "limit": 10 })),
        tool("create_asset", json!({ "name": "Another", "fields": { "note": "n".repeat(500) } })),
        tool("update_asset", json!({ "asset_id": asset, "name": "Van" })),
        tool("create_run", json!({ "template_id": template })),
        tool("get_asset", json!({ "asset_id": "nonsense" })),
        tool("no_such_tool", json!({})),
        event("POST", "rdk_live_wrong", "{}"),
        event("POST", key, "{"),
        event("GET", key, ""),
        tool("list_members", json!({})),
        tool("list_templates", json!({})),
    ];
    for call in 0..CALLS {
        // A body near the limit now and then: what is held for one call is given back before the next.
        let wanted = if call % 500 == 499 { &event("POST", key, &large) } else { &events[call % events.len()] };
        let status = function.invoke(wanted).await?.status;
        if status >= 500 || status == 429 {
            return Err(format!("call {call} was answered {status}").into());
        }
    }
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).and_then(|peak| peak.trim().strip_suffix(" kB"));
    let peak: f64 = peak.ok_or("the system does not tell the peak memory")?.trim().parse()?;
    Ok(vec![Row::new("memory.peak", "peak memory in MB, 10,000 mixed calls", peak / 1024.0).within(24.0)])
}
