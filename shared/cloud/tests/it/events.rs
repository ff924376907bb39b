//! The Lambda shell: the same request through each door, and what is no request at all.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use library::client::REQUEST_ID;
use onepost_cloud::lambda::{Context, Event, respond};
use onepost_core::http::{Endpoint, Request, Response};
use onepost_core::mcp::RequestId;
use serde_json::{Value, json};

use crate::situations::{Library, Situation, Told, directly};

/// The headers of a situation, one value a name, as doors hand them on.
fn headers(situation: &Situation, comma: &str) -> Value {
    let mut joined: Vec<(String, String)> = Vec::new();
    for (name, value) in &situation.headers {
        match joined.iter_mut().find(|(there, _)| there.eq_ignore_ascii_case(name)) {
            Some((_, values)) => *values += &format!("{comma}{value}"),
            None => joined.push((name.clone(), value.clone())),
        }
    }
    joined.into_iter().collect()
}

/// Whether a header stands there twice.
fn repeats_a_header(situation: &Situation) -> bool {
    headers(situation, ",").as_object().unwrap().len() < situation.headers.len()
}

/// An event of an API Gateway HTTP API at one of its stages, as its documentation has it.
pub fn http_api(situation: &Situation, stage: &str) -> Value {
    let path = if stage == "$default" { situation.path.to_owned() } else { format!("/{stage}{}", situation.path) };
    json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": situation.query,
        "headers": headers(situation, ","),
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "api-id",
            "domainName": "api-id.execute-api.eu-central-1.amazonaws.com",
            "domainPrefix": "api-id",
            "http": { "method": situation.method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1", "userAgent": "client/1" },
            "requestId": "JKJaXmPLvHcESHA=",
            "routeKey": "$default",
            "stage": stage,
            "time": "10/Mar/2026:05:16:23 +0000",
            "timeEpoch": 1_773_119_783_636_u64
        },
        "stageVariables": { "stageVariable1": "value1" },
        "isBase64Encoded": false
    })
}

/// An event of a Function URL: the same, without stages and with more `null`.
pub fn function_url(situation: &Situation) -> Value {
    let mut event = http_api(situation, "$default");
    event["headers"] = headers(situation, ", ");
    event["requestContext"]["accountId"] = "anonymous".into();
    event["requestContext"]["authentication"] = Value::Null;
    event["pathParameters"] = Value::Null;
    event["stageVariables"] = Value::Null;
    event
}

/// The body as it is: what is no text cannot be in an event like this.
pub fn plain(event: Value, body: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(body).ok()?;
    Some(with(event, if text.is_empty() { json!({}) } else { json!({ "body": text }) }))
}

pub fn in_base64(event: Value, body: &[u8]) -> Option<Value> {
    Some(with(event, json!({ "body": STANDARD.encode(body), "isBase64Encoded": true })))
}

fn with(mut event: Value, members: Value) -> Value {
    for (name, value) in members.as_object().unwrap() {
        event[name] = value.clone();
    }
    event
}

/// What the function returns for an event, through the bytes that come from and go to Lambda.
async fn returned(endpoint: &dyn Endpoint, event: &Value) -> Value {
    let bytes = serde_json::to_vec(event).unwrap();
    let event: Event = serde_json::from_slice(&bytes).unwrap();
    let reply = respond(endpoint, event, &context()).await;
    serde_json::from_slice(&serde_json::to_vec(&reply).unwrap()).unwrap()
}

fn context() -> Context {
    let mut context = Context::default();
    context.request_id = REQUEST_ID.to_owned();
    let ends = SystemTime::now() + Duration::from_secs(20);
    context.deadline = u64::try_from(ends.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis()).unwrap();
    context
}

/// What the door makes of what was returned. It is text, always.
fn told(returned: &Value) -> Told {
    let members: BTreeSet<_> = returned.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["body", "headers", "isBase64Encoded", "statusCode"].into(), "{returned}");
    assert_eq!(returned["isBase64Encoded"], false, "{returned}");
    let headers = returned["headers"].as_object().unwrap().iter();
    Told {
        status: returned["statusCode"].as_u64().unwrap().try_into().unwrap(),
        headers: headers.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect(),
        body: returned["body"].as_str().unwrap().to_owned().into(),
    }
}

/// D39, D41, D43 (names in odd case), D45, D57, D61: every door tells what the endpoint tells, whichever way the body went.
/// Where a header is there twice, doors join it, and an answer may quote the two otherwise than the one: there it is the
/// status and the code that stay.
#[tokio::test]
async fn every_door_tells_the_same() {
    let (library, situations) = Library::open();
    for situation in &situations {
        let direct = directly(&library, situation).await;
        assert_eq!(direct.ends(), situation.ends, "{}: {direct:?}", situation.what);
        let doors = [
            ("an HTTP API", http_api(situation, "$default")),
            ("an HTTP API with a stage", http_api(situation, "prod")),
            ("a Function URL", function_url(situation)),
        ];
        for (door, event) in doors {
            for (way, event) in [("plain", plain(event.clone(), &situation.body)), ("in base64", in_base64(event, &situation.body))] {
                let Some(event) = event else { continue };
                let told = told(&returned(&library, &event).await);
                if repeats_a_header(situation) {
                    assert_eq!(told.ends(), situation.ends, "{} through {door}, {way}: {told:?}", situation.what);
                } else {
                    assert_eq!(told, direct, "{} through {door}, {way}", situation.what);
                }
            }
        }
    }
}

/// D11: nothing is sent back, and not the text `null` either; no content type is told of what is not there.
#[tokio::test]
async fn a_notification_gets_an_empty_body() {
    let (library, situations) = Library::open();
    let notification = situations.iter().find(|situation| situation.what == "a notification").unwrap();
    let returned = returned(&library, &plain(function_url(notification), &notification.body).unwrap()).await;
    assert_eq!(returned, json!({ "statusCode": 202, "headers": { "x-request-id": REQUEST_ID }, "body": "", "isBase64Encoded": false }));
}

/// D61: an event stream is text as well, sent whole.
#[tokio::test]
async fn an_event_stream_goes_out_as_text() {
    let (library, situations) = Library::open();
    let recital = situations.iter().find(|situation| situation.what == "an event stream in one body").unwrap();
    let told = told(&returned(&library, &plain(function_url(recital), &recital.body).unwrap()).await);
    assert_eq!(told.headers["content-type"], "text/event-stream");
    assert!(told.body.starts_with(b"event: message\ndata: {"), "{told:?}");
}

/// Tells what reached it, and sets two cookies and two `Vary`.
struct Echo;

impl Endpoint for Echo {
    fn answer(&self, request: Request) -> Pin<Box<dyn Future<Output = Response> + Send + '_>> {
        let mut headers: Vec<_> = request.headers().iter().map(|(name, value)| format!("{name}={}", value.to_str().unwrap())).collect();
        headers.sort();
        let body = String::from_utf8_lossy(request.body()).into_owned();
        let name = &request.extensions().get::<RequestId>().unwrap().0;
        let told = json!([request.method().as_str(), request.uri().to_string(), headers.join(" & "), body, name]);
        let mut response = Response::new(told.to_string().into());
        for (name, value) in [("set-cookie", "a=1"), ("set-cookie", "b=2"), ("vary", "origin"), ("vary", "accept")] {
            response.headers_mut().append(name, value.parse().unwrap());
        }
        Box::pin(async move { response })
    }
}

async fn echoed(event: &Value) -> Value {
    serde_json::from_str(returned(&Echo, event).await["body"].as_str().unwrap()).unwrap()
}

/// The least that is an event of payload 2.0, and these members.
fn bare(members: Value) -> Value {
    with(json!({ "version": "2.0", "requestContext": { "http": { "method": "POST" } } }), members)
}

#[tokio::test]
async fn the_endpoint_sees_the_request_of_the_client_under_the_name_that_lambda_gave_it() {
    let event = bare(json!({
        "rawPath": "/mcp", "rawQueryString": "x=1&y=a%20b", "cookies": ["a=1", "b=2"],
        "headers": { "hOST": "h", "X-Blank": " \tv " }, "body": "aMOp", "isBase64Encoded": true
    }));
    assert_eq!(echoed(&event).await, json!(["POST", "/mcp?x=1&y=a%20b", "cookie=a=1; b=2 & host=h & x-blank=v", "hé", REQUEST_ID]));
}

#[tokio::test]
async fn only_a_whole_segment_that_is_the_stage_is_taken_from_the_path() {
    for (stage, path, seen) in [
        ("prod", "/prod/mcp", "/mcp"),
        ("prod", "/prod/prod/mcp", "/prod/mcp"),
        ("prod", "/production/mcp", "/production/mcp"),
        ("prod", "/prod", "/prod"),
        // A custom domain is mapped to a stage and does not name it.
        ("prod", "/mcp", "/mcp"),
        ("$default", "/$default/mcp", "/$default/mcp"),
    ] {
        let context = json!({ "http": { "method": "POST" }, "stage": stage });
        assert_eq!(echoed(&bare(json!({ "rawPath": path, "requestContext": context }))).await[1], seen);
    }
}

/// An HTTP API decodes the path, a Function URL does not, and emulators decode the query as well.
#[tokio::test]
async fn a_path_or_query_that_is_no_uri_is_encoded_again() {
    for (path, query, seen) in [
        ("/m%63p", "", "/m%63p"),
        ("/a b", "q=a b", "/a%20b?q=a%20b"),
        ("/mcp?x", "", "/mcp%3Fx"),
        ("/mcp#x", "y#z", "/mcp%23x?y%23z"),
        ("/é\n\0\"<>\\^`{|}", "📚", "/%C3%A9%0A%00%22%3C%3E%5C%5E%60%7B%7C%7D?%F0%9F%93%9A"),
        ("/100%", "%", "/100%?%"),
        ("/a", "??=/?", "/a???=/?"),
        ("", "?", "/??"),
        ("mcp", "", "/mcp"),
        ("*", "", "/*"),
        ("//host/mcp", "", "//host/mcp"),
        ("http://host/mcp", "", "/http://host/mcp"),
    ] {
        assert_eq!(echoed(&bare(json!({ "rawPath": path, "rawQueryString": query }))).await[1], seen, "{path} {query}");
    }
}

#[tokio::test]
async fn what_the_answer_repeats_is_joined_and_cookies_have_a_place_of_their_own() {
    let returned = returned(&Echo, &bare(json!({}))).await;
    assert_eq!(returned["headers"], json!({ "vary": "origin, accept" }));
    assert_eq!(returned["cookies"], json!(["a=1", "b=2"]));
}

/// D43 (`headers: null`): without headers there is no key, and that is all.
#[tokio::test]
async fn an_event_that_lacks_something_is_answered_by_the_endpoint() {
    let (library, _) = Library::open();
    let everything = json!({
        "rawPath": "/mcp", "rawQueryString": null, "headers": null, "cookies": null, "body": null, "isBase64Encoded": null,
        "requestContext": { "http": { "method": "POST" }, "stage": null }
    });
    for (members, status) in [
        (json!({ "rawPath": "/mcp" }), 401),
        (everything, 401),
        (json!({ "rawPath": "/mcp", "headers": {}, "body": "\u{0}", "isBase64Encoded": false }), 401),
        (json!({}), 404),
        (json!({ "rawPath": null }), 404),
        (json!({ "rawPath": "/m c p", "rawQueryString": "\u{7f}" }), 404),
    ] {
        assert_eq!(told(&returned(&library, &bare(members.clone())).await).status, status, "{members}");
    }
}

/// D39 (invalid base64), and what a client could not send over plain HTTP either: 400, and the function lives on.
#[tokio::test]
async fn an_event_that_holds_no_request_is_refused_with_400() {
    let long = "a".repeat(70_000);
    for members in [
        json!({ "body": "%%%", "isBase64Encoded": true }),
        json!({ "body": "aGVsbG8", "isBase64Encoded": true }),
        json!({ "body": "aGVs\nbG8=", "isBase64Encoded": true }),
        json!({ "body": "{\"jsonrpc\":\"2.0\"}", "isBase64Encoded": true }),
        json!({ "headers": { "origin": "https://evil.example\r\nx: y" } }),
        json!({ "headers": { "o rigin": "https://evil.example" } }),
        json!({ "headers": { "": "" } }),
        json!({ "headers": (0..40_000).map(|n| (format!("x-{n}"), String::new())).collect::<BTreeMap<_, _>>() }),
        json!({ "cookies": ["a=1\n"] }),
        json!({ "requestContext": { "http": { "method": "" } } }),
        json!({ "requestContext": { "http": { "method": "PO ST" } } }),
        json!({ "rawPath": long }),
        json!({ "rawPath": "/", "rawQueryString": long }),
    ] {
        let told = told(&returned(&Echo, &bare(members.clone())).await);
        let shown: String = members.to_string().chars().take(80).collect();
        assert_eq!(told.ends(), (400, Some(-32600)), "{shown}");
        let body: Value = serde_json::from_slice(&told.body).unwrap();
        assert_eq!(
            (&body["jsonrpc"], &body["id"], told.headers["x-request-id"].as_str()),
            (&json!("2.0"), &Value::Null, REQUEST_ID),
            "{shown}"
        );
    }
}

/// Half a surrogate pair is JSON and no Unicode.
#[tokio::test]
async fn a_body_that_is_no_unicode_is_the_endpoints_to_refuse() {
    let json = bare(json!({ "body": "HALF" })).to_string().replace("HALF", r"\ud800");
    let reply = respond(&Echo, serde_json::from_str(&json).unwrap(), &context()).await;
    assert_eq!(serde_json::to_value(&reply).unwrap()["statusCode"], 200);
}

/// Whatever any member is, there is an answer.
#[tokio::test]
async fn no_event_is_without_an_answer() {
    let (library, situations) = Library::open();
    let event = with(plain(http_api(&situations[0], "prod"), &situations[0].body).unwrap(), json!({ "cookies": ["a=1"] }));
    let mut places = vec![String::new()];
    let mut next = 0;
    while let Some(place) = places.get(next).cloned() {
        match event.pointer(&place).unwrap() {
            Value::Object(members) => places.extend(members.keys().map(|name| format!("{place}/{name}"))),
            Value::Array(members) => places.extend((0..members.len()).map(|number| format!("{place}/{number}"))),
            _ => {}
        }
        next += 1;
    }
    assert!(places.len() >= 30, "{places:?}");
    for place in places {
        for other in [json!(null), json!(true), json!(-1), json!("%\u{0}"), json!([null]), json!({ "": [] })] {
            let mut event = event.clone();
            *event.pointer_mut(&place).unwrap() = other.clone();
            let status = told(&returned(&library, &event).await).status;
            assert!([200, 400, 401, 403, 404, 405, 415, 501].contains(&status), "{place} = {other}: {status}");
        }
    }
}

/// D101: a call that hangs ends in an answer that a client can read, before Lambda ends the invocation.
#[tokio::test]
async fn a_call_that_hangs_is_answered_before_its_time_is_over() {
    struct Hung;

    impl Endpoint for Hung {
        fn answer(&self, _: Request) -> Pin<Box<dyn Future<Output = Response> + Send + '_>> {
            Box::pin(std::future::pending())
        }
    }

    let mut context = context();
    let ends = SystemTime::now() + Duration::from_millis(800);
    context.deadline = u64::try_from(ends.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let event: Event = serde_json::from_str(&bare(json!({})).to_string()).unwrap();
    let reply = respond(&Hung, event, &context).await;
    assert!(SystemTime::now() < ends, "in time");
    let told = serde_json::to_value(&reply).unwrap();
    let body: Value = serde_json::from_str(told["body"].as_str().unwrap()).unwrap();
    assert_eq!((&told["statusCode"], &body["error"]["code"], &body["id"]), (&json!(200), &json!(-32603), &Value::Null));
    assert_eq!(body["error"]["data"]["request_id"], REQUEST_ID);
}
