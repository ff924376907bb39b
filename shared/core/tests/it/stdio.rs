//! The other transport: a message a line, and one client that was greeted.

use http::header::AUTHORIZATION;
use library::client::{META_CAPABILITIES, META_VERSION};
use library::{Furnished, LikeAgents, LikeViewer, furnish};
use onepost_core::auth::KeyCaller;
use onepost_core::http::Gate;
use onepost_core::mcp::{Product, Session};
use onepost_core::stdio;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

/// A connection to a server of its own.
struct Connection {
    to: WriteHalf<DuplexStream>,
    from: Lines<BufReader<ReadHalf<DuplexStream>>>,
    backstage: std::sync::Arc<library::Backstage>,
    server: tokio::task::JoinHandle<std::io::Result<()>>,
}

async fn caller<B: library::Branch>(furnished: &Furnished<B>, key: &str) -> KeyCaller {
    let headers = [(AUTHORIZATION, format!("Bearer {key}").parse().unwrap())].into_iter().collect();
    let product = furnished.server.product();
    product.authenticate(&headers, product.clock().now()).await.unwrap()
}

async fn connect<B: library::Branch>() -> Connection {
    let furnished = furnish::<B>(Gate::default());
    let caller = caller(&furnished, &furnished.keys.good).await;
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (from, to) = tokio::io::split(ours);
    let backstage = furnished.backstage.clone();
    let server = tokio::spawn(async move {
        let (input, output) = tokio::io::split(theirs);
        stdio::serve(&furnished.server, &caller, BufReader::new(input), output, |record| {
            assert!(record.caller.is_some() || record.code.is_some())
        })
        .await
    });
    Connection { to, from: BufReader::new(from).lines(), backstage, server }
}

impl Connection {
    async fn send(&mut self, line: &str) {
        self.to.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        serde_json::from_str(&self.from.next_line().await.unwrap().unwrap()).unwrap()
    }

    async fn ask(&mut self, id: u32, method: &str, params: Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()).await;
        self.next().await
    }

    /// Ends the input, and expects the server to end, with nothing left to read.
    async fn end(mut self) {
        self.to.shutdown().await.unwrap();
        assert_eq!(self.from.next_line().await.unwrap(), None);
        self.server.await.unwrap().unwrap();
    }
}

const PING: &str = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;

#[tokio::test]
async fn the_version_of_the_handshake_holds_for_what_follows() {
    for (version, has_output_schemas) in [("2025-11-25", true), ("2025-06-18", true), ("2025-03-26", false), ("2024-10-07", false)] {
        let mut connection = connect::<LikeViewer>().await;
        let greeted = connection.ask(1, "initialize", json!({ "protocolVersion": version })).await;
        assert_eq!(greeted["result"]["protocolVersion"], version);
        connection.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        let listed = connection.ask(2, "tools/list", json!({})).await;
        assert_eq!(listed["result"]["tools"][0].get("outputSchema").is_some(), has_output_schemas, "{version}");
        connection.end().await;
    }
}

#[tokio::test]
async fn without_a_handshake_the_newest_version_that_has_one_holds() {
    let mut connection = connect::<LikeAgents>().await;
    let called = connection.ask(1, "tools/call", json!({ "name": "count_books" })).await;
    assert_eq!(called["result"]["structuredContent"]["count"], 2);
    assert_eq!(called["result"].get("resultType"), None);
    connection.end().await;
}

#[tokio::test]
async fn requests_of_2026_07_28_need_no_headers_here() {
    let mut connection = connect::<LikeViewer>().await;
    let meta = json!({ META_VERSION: "2026-07-28", META_CAPABILITIES: { "elicitation": { "url": {} } } });
    let discovered = connection.ask(1, "server/discover", json!({ "_meta": meta })).await;
    assert_eq!(discovered["result"]["resultType"], "complete");
    let asked = connection.ask(2, "tools/call", json!({ "name": "order_book", "arguments": { "title": "Emma" }, "_meta": meta })).await;
    assert_eq!(asked["result"]["resultType"], "input_required");
    let unknown = connection.ask(3, "ping", json!({ "_meta": meta })).await;
    assert_eq!(unknown["error"]["code"], -32601);
    let lacking = connection.ask(4, "tools/list", json!({ "_meta": { META_VERSION: "2026-07-28" } })).await;
    assert_eq!(lacking["error"]["code"], -32602);
    let other = connection.ask(5, "tools/list", json!({ "_meta": { META_VERSION: "2031-01-01", META_CAPABILITIES: {} } })).await;
    assert_eq!(other["error"]["code"], -32022);
    connection.end().await;
}

/// D29: a batch that gets no answer keeps its sender waiting for ever.
#[tokio::test]
async fn a_batch_is_refused_by_one_line_and_the_next_line_is_served() {
    let mut connection = connect::<LikeViewer>().await;
    connection.send(&format!("[{PING},{PING}]\n{PING}")).await;
    let refused = connection.next().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&Value::Null, &json!(-32600)));
    assert_eq!(connection.next().await, json!({ "jsonrpc": "2.0", "id": "p", "result": {} }));
    connection.end().await;
}

#[tokio::test]
async fn lines_that_are_no_messages_are_told_so_and_empty_ones_passed_over() {
    let mut connection = connect::<LikeViewer>().await;
    for (line, code) in [("{", -32700), ("nonsense", -32700), ("7", -32600), (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600)] {
        connection.send(&format!("\n  \n{line}\r")).await;
        let refused = connection.next().await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&Value::Null, &json!(code)), "{line}");
    }
    connection.to.write_all(b"\"\xFF\"\n").await.unwrap();
    assert_eq!(connection.next().await["error"]["code"], -32700);
    connection.end().await;
}

#[tokio::test]
async fn a_line_over_the_limit_is_refused_and_the_next_is_served() {
    let mut connection = connect::<LikeViewer>().await;
    let part = vec![b'x'; 1 << 16];
    for _ in 0..17 {
        connection.to.write_all(&part).await.unwrap();
    }
    connection.send(&format!("\n{PING}")).await;
    let refused = connection.next().await;
    assert_eq!(refused["error"]["code"], -32600);
    assert!(refused["error"]["message"].as_str().unwrap().contains("1048576 bytes"), "{refused}");
    assert_eq!(connection.next().await["id"], "p");
    connection.end().await;
}

#[tokio::test]
async fn a_call_that_takes_its_time_holds_up_nothing() {
    let mut connection = connect::<LikeViewer>().await;
    let slow = json!({ "jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": { "name": "wait_for_bell" } });
    connection.send(&slow.to_string()).await;
    connection.send(PING).await;
    assert_eq!(connection.next().await["id"], "p");
    connection.backstage.bell.notify_one();
    assert_eq!(connection.next().await["id"], "slow");
    connection.end().await;
}

#[tokio::test]
async fn what_runs_when_the_input_ends_is_answered_first() {
    let mut connection = connect::<LikeViewer>().await;
    let slow = json!({ "jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": { "name": "wait_for_bell" } });
    connection.send(&slow.to_string()).await;
    // The last line need not have an end.
    connection.to.write_all(PING.as_bytes()).await.unwrap();
    connection.to.shutdown().await.unwrap();
    assert_eq!(connection.next().await["id"], "p");
    connection.backstage.bell.notify_one();
    assert_eq!(connection.next().await["id"], "slow");
    connection.end().await;
}

#[tokio::test]
async fn notices_are_lines_before_the_answer() {
    let mut connection = connect::<LikeViewer>().await;
    let params = json!({ "name": "recite_lines", "arguments": { "lines": 1 }, "_meta": { "progressToken": "t" } });
    let first = connection.ask(1, "tools/call", params).await;
    assert_eq!(first["method"], "notifications/progress");
    assert_eq!(connection.next().await["result"]["structuredContent"]["count"], 1);
    connection.end().await;
}

#[tokio::test]
async fn a_token_that_lacks_a_right_is_told_in_an_error_of_its_call() {
    let furnished = furnish::<LikeViewer>(Gate::default());
    let caller = caller(&furnished, &furnished.keys.token).await;
    let line = br#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"enter_vault"}}"#;
    let answered = furnished.server.line(&caller, &Session::default(), line).await;
    let error: Value = serde_json::from_str(&answered.lines[0]).unwrap();
    assert_eq!((&error["id"], &error["error"]["code"]), (&json!(9), &json!(-32600)));
}

/// The rest of a client may have crashed, and a call may hang for ever.
#[tokio::test(start_paused = true)]
async fn calls_that_never_end_keep_no_server_alive() {
    let mut connection = connect::<LikeViewer>().await;
    let slow = json!({ "jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": { "name": "wait_for_bell" } });
    connection.send(&slow.to_string()).await;
    connection.end().await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_ends_without_an_answer() {
    let mut connection = connect::<LikeViewer>().await;
    for id in [json!("slow"), json!(7)] {
        let slow = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "wait_for_bell" } });
        let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        connection.send(&format!("{slow}\n{cancel}\n{PING}")).await;
        assert_eq!(connection.next().await["id"], "p");
    }
    connection.end().await;
}

#[tokio::test]
async fn too_many_calls_at_work_are_refused_and_everything_quick_is_answered() {
    let mut connection = connect::<LikeViewer>().await;
    for id in 0..40 {
        let slow = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "wait_for_bell" } });
        connection.send(&slow.to_string()).await;
    }
    connection.send(PING).await;
    for id in 32..40 {
        let refused = connection.next().await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(id), &json!(-32600)));
    }
    assert_eq!(connection.next().await["id"], "p");
    for id in 0..32 {
        connection.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }).to_string()).await;
    }
    connection.end().await;
}
