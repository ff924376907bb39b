//! The server starts, says where it is, and shows what the official suite asks for. `tests/conformance/run` runs that suite.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

/// Ends with the test.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_conformance-server")).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { process, url: url.trim().to_owned() }
    }

    fn ask(&self, method: &str, params: &Value) -> Value {
        let (address, path) = self.url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let length = body.len();
        let mut stream = TcpStream::connect(address).unwrap();
        write!(
            stream,
            "POST /{path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2025-11-25\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str::<Value>(answer.split_once("\r\n\r\n").unwrap().1).unwrap()["result"].clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
fn it_shows_what_the_suite_asks_for() {
    let server = Server::start();
    let tools = server.ask("tools/list", &json!({}));
    assert_eq!(tools["tools"].as_array().unwrap().len(), 21);
    assert_eq!(tools["tools"][0]["name"], "test_simple_text", "the first one takes no arguments");
    assert_eq!(server.ask("prompts/list", &json!({}))["prompts"].as_array().unwrap().len(), 5);
    let read = server.ask("resources/read", &json!({ "uri": "test://template/123/data" }));
    assert_eq!(read["contents"][0]["text"], r#"{"id":"123","made":true}"#);
}
