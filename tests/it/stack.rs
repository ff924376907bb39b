//! A stack of its own for each test.

use local::stack::{Options, Running, Stack};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A running stack and the folder that goes with it.
pub struct Local {
    pub running: Running,
    pub folder: TempDir,
}

impl Local {
    pub async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let running = start_on(&folder).await;
        Self { running, folder }
    }

    /// Stops and starts again on the same data.
    pub async fn restart(self) -> Self {
        self.running.stop().await.unwrap();
        let running = start_on(&self.folder).await;
        Self { running, folder: self.folder }
    }

    pub fn mcp(&self) -> &str {
        &self.running.checklists.mcp
    }

    pub fn key(&self) -> &str {
        &self.running.checklists.key
    }

    /// Calls a tool over HTTP and gives the whole answer.
    pub async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.call_with(self.key(), tool, arguments).await
    }

    pub async fn call_with(&self, key: &str, tool: &str, arguments: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments } });
        let response = reqwest::Client::new().post(self.mcp()).bearer_auth(key).json(&message).send().await.unwrap();
        assert_eq!(response.status(), 200);
        response.json().await.unwrap()
    }

    /// The id of the demo template.
    pub async fn demo_template(&self) -> String {
        let listed = self.call("list_templates", json!({})).await;
        listed["result"]["structuredContent"]["data"][0]["id"].as_str().unwrap().to_owned()
    }
}

async fn start_on(folder: &TempDir) -> Running {
    Stack::start(Options { port: 0, data: folder.path().to_owned() }).await.unwrap()
}
