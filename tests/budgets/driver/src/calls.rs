//! Calls through the Lambda shell. Clock and ids are the same in each run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{AttributeValue, Put, ReturnConsumedCapacity, TransactWriteItem, Update};
use bytes::Bytes;
use checklists::Checklists;
use checklists::links::Site;
use checklists::mail::Unconfigured;
use checklists::operator::Desk;
use checklists::store::Store;
use jiff::Timestamp;
use library::{Furnished, LikeChecklists, furnish};
use onepost_cloud::lambda;
use onepost_cloud::limits::{Limiter, Limits};
use onepost_cloud::table::Table;
use onepost_cloud::telemetry::{self, Observed};
use onepost_core::auth::{KeyCache, Pepper, Peppers};
use onepost_core::clock::ManualClock;
use onepost_core::http::{Endpoint, Gate};
use onepost_core::id::{Entropy, Ids};
use onepost_core::mcp::Server;
use serde_json::{Value, json};

use crate::stub::Stub;

type Failed = Box<dyn std::error::Error>;

/// The instant at which all calls are made.
const NOW: &str = "2026-05-22T08:31:00Z";

/// The clock stands still, so all calls are made in one window. A lease is for 500 of them.
const GENEROUS: Limits = Limits { window: Duration::from_secs(10), per_key: 1_000_000, per_organisation: 2_000_000 };

/// Makes the calls of a case, after one that warms up what is made on first use.
pub async fn run(case: &str, count: u32) -> Result<(), Failed> {
    telemetry::init("info");
    match case {
        "endpoint" | "shell" => {
            let Furnished { server, keys, .. } = furnish::<LikeChecklists>(Gate::default());
            let message = tool("list_books", &json!({ "limit": 2 }));
            if case == "endpoint" {
                return at_the_endpoint(Observed(server), &keys.good, &message, count).await;
            }
            through_the_shell(Observed(server), &event(&keys.good, &message), count).await
        }
        "tools_list" | "get_asset" | "create_asset" => {
            let furnished = Furniture::new().await?;
            let message = match case {
                "tools_list" => json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }),
                "get_asset" => tool("get_asset", &json!({ "asset_id": furnished.asset })),
                _ => tool("create_asset", &asset()),
            };
            let event = event(&furnished.key, &message);
            furnished.stub.freeze();
            through_the_shell(Observed(furnished.server), &event, count).await
        }
        "sdk_read" | "sdk_write" => {
            let furnished = Furniture::new().await?;
            let row = furnished.stub.item(&furnished.asset).ok_or("the asset was not put")?;
            furnished.stub.freeze();
            let client = Client::new(&furnished.stub.config());
            for _ in 0..=count {
                if case == "sdk_read" { read(&client, &row).await? } else { write(&client, &row).await? }
            }
            Ok(())
        }
        other => Err(format!("there is no case {other}").into()),
    }
}

/// Answers the same event so many times and once more, each from the bytes that the runtime would hand over to the bytes
/// that it would take.
async fn through_the_shell(endpoint: impl Endpoint, event: &[u8], count: u32) -> Result<(), Failed> {
    let mut context = lambda::Context::default();
    context.request_id = "8f5073a1-3a5c-4c9d-9d2e-5e5c7f6f3f10".into();
    let ends = SystemTime::now() + Duration::from_secs(24 * 3600);
    context.deadline = u64::try_from(ends.duration_since(SystemTime::UNIX_EPOCH)?.as_millis())?;
    let mut first = 0;
    for _ in 0..=count {
        let reply = lambda::respond(&endpoint, serde_json::from_slice(event)?, &context).await;
        let bytes = serde_json::to_vec(&reply)?;
        same_as_the_first(&bytes, &mut first)?;
    }
    Ok(())
}

/// The same without the shell: a request with its bytes in, a response with its bytes out.
async fn at_the_endpoint(endpoint: impl Endpoint, key: &str, message: &Value, count: u32) -> Result<(), Failed> {
    let request = http::Request::post("/mcp")
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2025-11-25")
        .body(Bytes::from(message.to_string()))?;
    let mut first = 0;
    for _ in 0..=count {
        let response = endpoint.answer(request.clone()).await;
        same_as_the_first(response.body(), &mut first)?;
    }
    Ok(())
}

/// A refusal would be cheap, and measured for what it is not. Only the first answer is read; the others are as long.
fn same_as_the_first(bytes: &[u8], first: &mut usize) -> Result<(), Failed> {
    if *first == 0 {
        let text = std::str::from_utf8(bytes)?;
        if text.contains("isError") || !(text.contains("structuredContent") || text.contains("inputSchema")) {
            return Err(format!("the call failed: {text}").into());
        }
        *first = bytes.len();
    }
    if bytes.len() == *first { Ok(()) } else { Err("an answer is not as long as the first".into()) }
}

/// Checklists with an organisation, its key and an asset, on the stub.
struct Furniture {
    server: Server<Checklists>,
    stub: Stub,
    key: String,
    asset: String,
}

impl Furniture {
    async fn new() -> Result<Self, Failed> {
        let stub = Stub::default();
        let store = Store::new(Table::new(&stub.config(), "checklists"));
        let peppers = Peppers::new(Pepper::new("1", [7; 32]), None);
        let now: Timestamp = NOW.parse()?;
        let desk = Desk::new(store.clone(), peppers.clone(), ManualClock::at(now));
        let failed = |error: onepost_core::error::ToolError| format!("{error:?}");
        let (organisation, owner) = desk.create_organisation("Home", "Olive Owner", "olive@home.example").await.map_err(failed)?;
        let key = desk.mint_key(&organisation.id, &owner.user_id, "budget", None).await.map_err(failed)?.plain.reveal().to_owned();
        let table = store.table().clone();
        let server = Server::new(Checklists {
            limiter: Some(Limiter::new(table, GENEROUS)),
            store,
            peppers,
            site: Site::at("https://checklists.example"),
            mailer: Box::new(Unconfigured),
            gate: Gate::default(),
            clock: Box::new(ManualClock::at(now)),
            ids: Ids::from_entropy(Counted::default()),
            keys: KeyCache::default(),
        });
        let made =
            lambda::respond(&server, serde_json::from_slice(&event(&key, &tool("create_asset", &asset())))?, &lambda::Context::default())
                .await;
        let reply: Value = serde_json::to_value(&made)?;
        let answer: Value = serde_json::from_str(reply["body"].as_str().unwrap_or_default())?;
        let asset = answer["result"]["structuredContent"]["id"].as_str().ok_or_else(|| format!("no asset in {answer}"))?.to_owned();
        Ok(Self { server, stub, key, asset })
    }
}

/// Bytes that are the same in each run and differ from draw to draw.
#[derive(Default)]
struct Counted(AtomicU64);

impl Entropy for Counted {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            // Weyl's sequence: each draw differs in all its bytes.
            let drawn = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed).to_le_bytes();
            chunk.copy_from_slice(&drawn[..chunk.len()]);
        }
    }
}

fn asset() -> Value {
    json!({ "name": "Van 7", "fields": { "plate": "AB 123 C", "seats": 3, "note": "The left door sticks." } })
}

fn tool(name: &str, arguments: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": arguments } })
}

/// What a Function URL sends for a request of an ordinary client.
fn event(key: &str, message: &Value) -> Vec<u8> {
    let host = "abcdefghijklmnopqrstuvwxyz012345.lambda-url.eu-central-1.on.aws";
    let body = message.to_string();
    json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": "/mcp",
        "rawQueryString": "",
        "headers": {
            "content-length": body.len().to_string(),
            "x-amzn-tls-version": "TLSv1.3",
            "x-forwarded-proto": "https",
            "x-forwarded-port": "443",
            "x-forwarded-for": "203.0.113.7",
            "accept": "application/json, text/event-stream",
            "authorization": format!("Bearer {key}"),
            "x-amzn-tls-cipher-suite": "TLS_AES_128_GCM_SHA256",
            "x-amzn-trace-id": "Root=1-6a101f34-0123456789abcdef01234567",
            "mcp-protocol-version": "2025-11-25",
            "host": host,
            "content-type": "application/json",
            "accept-encoding": "gzip, deflate, br",
            "user-agent": "client/1.0"
        },
        "requestContext": {
            "accountId": "anonymous",
            "apiId": "abcdefghijklmnopqrstuvwxyz012345",
            "domainName": host,
            "domainPrefix": "abcdefghijklmnopqrstuvwxyz012345",
            "http": { "method": "POST", "path": "/mcp", "protocol": "HTTP/1.1", "sourceIp": "203.0.113.7", "userAgent": "client/1.0" },
            "requestId": "8f5073a1-3a5c-4c9d-9d2e-5e5c7f6f3f10",
            "routeKey": "$default",
            "stage": "$default",
            "time": "22/May/2026:08:31:00 +0000",
            "timeEpoch": 1_779_438_660_000_u64
        },
        "body": body,
        "isBase64Encoded": false
    })
    .to_string()
    .into_bytes()
}

/// The read that `get_asset` makes, by the SDK alone.
async fn read(client: &Client, row: &Value) -> Result<(), Failed> {
    let request = client.get_item().table_name("checklists").consistent_read(true).return_consumed_capacity(ReturnConsumedCapacity::Total);
    let answer = request.key("pk", text(row, "pk")).key("sk", text(row, "sk")).send().await?;
    answer.item.map(drop).ok_or_else(|| "the row was not found".into())
}

/// A transaction as `create_asset` makes it, by the SDK alone: an item, and a count that is raised on a condition.
async fn write(client: &Client, row: &Value) -> Result<(), Failed> {
    let mut put =
        Put::builder().table_name("checklists").condition_expression("attribute_not_exists(#n0)").expression_attribute_names("#n0", "pk");
    for (name, value) in row.as_object().into_iter().flatten() {
        let value = match (value["S"].as_str(), value["N"].as_str()) {
            (Some(text), _) => AttributeValue::S(text.into()),
            (_, number) => AttributeValue::N(number.unwrap_or_default().into()),
        };
        put = put.item(name, value);
    }
    let count = Update::builder()
        .table_name("checklists")
        .key("pk", text(row, "pk"))
        .key("sk", AttributeValue::S("META".into()))
        .update_expression("ADD #n0 :v0")
        .condition_expression("#n0 < :v1")
        .expression_attribute_names("#n0", "n_assets")
        .expression_attribute_values(":v0", AttributeValue::N("1".into()))
        .expression_attribute_values(":v1", AttributeValue::N("1000".into()));
    client
        .transact_write_items()
        .transact_items(TransactWriteItem::builder().put(put.build()?).build())
        .transact_items(TransactWriteItem::builder().update(count.build()?).build())
        .client_request_token("0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d")
        .return_consumed_capacity(ReturnConsumedCapacity::Total)
        .send()
        .await?;
    Ok(())
}

fn text(row: &Value, name: &str) -> AttributeValue {
    AttributeValue::S(row[name]["S"].as_str().unwrap_or_default().to_owned())
}
