//! The situations once more, as lines to a server beside its client: what HTTP alone knows aside, the same answers.

use library::client::REQUEST_ID;
use library::{LikeChecklists, furnish};
use onepost_core::http::Gate;
use onepost_core::mcp::{Product, Session};
use serde_json::json;

use crate::situations::{Library, Situation, directly};

/// The version that the header names, for the handshake that a connection has instead.
fn version(situation: &Situation) -> &str {
    let named = situation.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("mcp-protocol-version"));
    named.map_or("2025-03-26", |(_, version)| version)
}

/// What depends on nothing but the message: it was let in, and is one line that holds no batch.
fn is_about_the_message(situation: &Situation) -> bool {
    let let_in = [(200, None), (202, None), (200, Some(-32602)), (200, Some(-32601)), (404, Some(-32601)), (200, Some(-32700))];
    let_in.contains(&situation.ends) && !situation.body.is_empty() && !situation.body.starts_with(b"[") && !situation.body.contains(&b'\n')
}

#[tokio::test]
async fn a_line_gets_the_answer_that_a_post_gets() {
    let (library, situations) = Library::open();
    let furnished = furnish::<LikeChecklists>(Gate::default());
    let product = furnished.server.product();
    let key = [(http::header::AUTHORIZATION, format!("Bearer {}", furnished.keys.good).parse().unwrap())].into_iter().collect();
    let caller = product.authenticate(&key, product.clock().now()).await.unwrap();
    let mut replayed = 0;
    for situation in situations.iter().filter(|situation| is_about_the_message(situation)) {
        let session = Session::default();
        let greeting = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": version(situation) } });
        furnished.server.line(&caller, &session, greeting.to_string().as_bytes()).await;
        let answered = furnished.server.line(&caller, &session, &situation.body).await;
        let lines = answered.lines.join("\n").replace(&answered.record.request_id, REQUEST_ID);
        let direct = directly(&library, situation).await;
        let posted = String::from_utf8(direct.body.to_vec()).unwrap();
        let posted = posted.replace("event: message\ndata: ", "").replace("\n\n", "\n");
        assert_eq!(lines, posted.trim_end_matches('\n'), "{}", situation.what);
        replayed += 1;
    }
    assert!(replayed >= 20, "{replayed} situations");
}
