//! What is no event of payload format 2.0.
//!
//! A ruling stands behind this. D41 and D43 ask for events of format 1.0 to be served as well, with their
//! `multiValueHeaders`: they are not. Both doors of this suite send 2.0, a second reader of headers would be a second way to
//! be let in, and so a door that is set to 1.0 is a mistake. It is named to whoever calls and in the log.

use std::io;
use std::sync::{Arc, Mutex};

use onepost_cloud::lambda::{Context, Event, respond};
use serde_json::{Value, json};
use tracing_subscriber::fmt::MakeWriter;

use crate::situations::Library;

/// Everything that people put before a function, or invoke it with, as their documentation has it.
fn others() -> Vec<(&'static str, Value)> {
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let headers = json!({ "aUthoRization": "Bearer lib_live_SECRET", "content-type": "application/json" });
    let many = json!({ "aUthoRization": ["Bearer lib_live_SECRET"], "content-type": ["application/json"] });
    vec![
        (
            "a REST API",
            json!({
                "resource": "/{proxy+}", "path": "/mcp", "httpMethod": "POST", "headers": headers, "multiValueHeaders": many,
                "queryStringParameters": null, "multiValueQueryStringParameters": null, "pathParameters": { "proxy": "mcp" },
                "stageVariables": null, "requestContext": { "resourceId": "x", "apiId": "a", "stage": "prod", "httpMethod": "POST" },
                "body": list, "isBase64Encoded": false
            }),
        ),
        (
            "an HTTP API that is set to 1.0",
            json!({
                "version": "1.0", "resource": "/mcp", "path": "/mcp", "httpMethod": "POST", "headers": null, "multiValueHeaders": many,
                "requestContext": { "apiId": "a", "stage": "$default", "httpMethod": "POST" }, "body": list, "isBase64Encoded": false
            }),
        ),
        (
            "a load balancer",
            json!({
                "requestContext": { "elb": { "targetGroupArn": "arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/t/1" } },
                "httpMethod": "POST", "path": "/mcp", "queryStringParameters": {}, "headers": headers, "body": list, "isBase64Encoded": false
            }),
        ),
        (
            "a WebSocket API",
            json!({
                "requestContext": { "routeKey": "$default", "eventType": "MESSAGE", "connectionId": "c", "stage": "prod" },
                "body": list, "isBase64Encoded": false
            }),
        ),
        (
            "a VPC Lattice service, whose own format is at 2.0 too",
            json!({
                "version": "2.0", "path": "/mcp", "method": "POST", "headers": many, "body": list, "isBase64Encoded": false,
                "requestContext": { "serviceNetworkArn": "arn:aws:vpc-lattice:eu-central-1:123456789012:servicenetwork/sn-1" }
            }),
        ),
        (
            "a schedule",
            json!({
                "version": "0", "id": "53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa", "detail-type": "Scheduled Event", "source": "aws.events",
                "resources": ["arn:aws:events:eu-central-1:123456789012:rule/warm"], "detail": {}
            }),
        ),
        ("a queue", json!({ "Records": [{ "messageId": "1", "body": list, "eventSource": "aws:sqs" }] })),
        ("the console's test", json!({ "key1": "value1", "key2": "value2", "key3": "value3" })),
        ("nothing", json!({})),
        ("null", json!(null)),
        ("an array", json!([1, "2.0"])),
        ("a text", json!("2.0")),
        ("a number", json!(2.0)),
        ("a format to come", json!({ "version": "3.0", "requestContext": { "http": { "method": "POST" } }, "rawPath": "/mcp" })),
        ("format 2.0 without a request", json!({ "version": "2.0", "requestContext": {} })),
        (
            "format 2.0 with headers of another",
            json!({ "version": "2.0", "requestContext": { "http": { "method": "POST" } }, "headers": many }),
        ),
    ]
}

/// A log to read.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for Log {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        self.clone()
    }
}

/// D41, D43 (our ruling): every door reads the refusal, and it says what to set where.
#[tokio::test]
async fn another_format_is_refused_in_words_that_every_door_carries() {
    let (library, _) = Library::open();
    let mut context = Context::default();
    context.request_id = "8f5e-1".to_owned();
    for (what, event) in others() {
        let reply = respond(&library, serde_json::from_str(&event.to_string()).unwrap(), &context).await;
        let returned = serde_json::to_value(&reply).unwrap();
        let body: Value = serde_json::from_str(returned["body"].as_str().unwrap()).unwrap();
        // These members and no other: a REST API calls an answer malformed that has one more.
        let headers = json!({ "content-type": "application/json", "x-request-id": "8f5e-1" });
        let whole = json!({ "statusCode": 501, "headers": headers, "body": body.to_string(), "isBase64Encoded": false });
        assert_eq!(returned, whole, "{what}");
        assert_eq!((&body["jsonrpc"], &body["id"], &body["error"]["code"]), (&json!("2.0"), &Value::Null, &json!(-32603)), "{what}");
        let message = body["error"]["message"].as_str().unwrap();
        for word in ["payloadFormatVersion", "2.0", "integration", "HTTP API", "Function URL"] {
            assert!(message.contains(word), "{what}: {message}");
        }
    }
}

#[tokio::test]
async fn a_refused_event_is_one_line_in_the_log_and_shows_nothing_of_itself() {
    let (library, _) = Library::open();
    let malformed =
        json!({ "version": "2.0", "requestContext": { "http": { "method": "POST" } }, "body": "SECRET%", "isBase64Encoded": true });
    let others = others().into_iter().chain([("base64 that is none", malformed)]);
    for (what, event) in others {
        let log = Log::default();
        let lines = tracing_subscriber::fmt().json().flatten_event(true).with_writer(log.clone()).finish();
        let _for_this_event = tracing::subscriber::set_default(lines);
        let event: Event = serde_json::from_str(&event.to_string()).unwrap();
        let status = serde_json::to_value(respond(&library, event, &Context::default()).await).unwrap()["statusCode"].clone();
        let written = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        let line: Value = serde_json::from_str(&written).unwrap_or_else(|_| panic!("{what}: {written:?}"));
        assert_eq!((&line["level"], &line["status"]), (&json!("WARN"), &status), "{what}");
        assert!(!written.contains("SECRET"), "{what}: {written}");
        let first = ["a REST API", "an HTTP API that is set to 1.0", "a load balancer"].contains(&what);
        assert_eq!(line["found"].as_str().is_some_and(|found| found.contains("1.0")), first, "{what}: {line}");
    }
}
