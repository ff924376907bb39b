//! The DynamoDB engine's wire, beside the server that the engine's crate brings: it answers the same.

use dynoxide::Database;
use local::engines::dynamodb::{DynamoDb, SWEEP_EVERY, Storage};
use serde_json::{Value, json};

/// An answer without what differs from one request to the next: its id, and the order of an item's attributes.
#[derive(Debug, PartialEq)]
struct Answer {
    status: u16,
    content_type: Option<String>,
    body: Value,
}

struct Pair {
    ours: DynamoDb,
    theirs: String,
    http: reqwest::Client,
}

impl Pair {
    async fn start() -> Pair {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let theirs = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(dynoxide::server::serve_on(listener, Database::memory().unwrap()));
        let ours = DynamoDb::start(Storage::Memory, SWEEP_EVERY).await.unwrap();
        Pair { ours, theirs, http: reqwest::Client::new() }
    }

    async fn send(&self, url: &str, target: &str, content_type: &str, authorization: &str, body: &str) -> Answer {
        let request = self.http.post(url).header("x-amz-target", target).header("content-type", content_type);
        let request = request.header("authorization", authorization).header("x-amz-date", "20260101T000000Z");
        let answer = request.body(body.to_owned()).send().await.unwrap();
        let header = |name: &str| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        assert!(header("x-amzn-requestid").is_some());
        let (status, content_type, checksum) = (answer.status().as_u16(), header("content-type"), header("x-amz-crc32"));
        let text = answer.text().await.unwrap();
        assert_eq!(checksum, Some(crc32fast::hash(text.as_bytes()).to_string()));
        Answer { status, content_type, body: serde_json::from_str(&text).unwrap_or(text.into()) }
    }

    /// The answer of both, which must be one.
    async fn both(&self, target: &str, content_type: &str, authorization: &str, body: &str) -> Answer {
        let ours = self.send(self.ours.url(), target, content_type, authorization, body).await;
        let theirs = self.send(&self.theirs, target, content_type, authorization, body).await;
        assert_eq!(ours, theirs, "{target} {body}");
        ours
    }

    async fn call(&self, operation: &str, body: Value) -> (u16, Value) {
        let answer = self.both(&format!("DynamoDB_20120810.{operation}"), AMZ_JSON, SIGNED, &body.to_string()).await;
        (answer.status, answer.body)
    }
}

const AMZ_JSON: &str = "application/x-amz-json-1.0";
const SIGNED: &str = "AWS4-HMAC-SHA256 Credential=x, SignedHeaders=x, Signature=x";

/// Times and ids that each engine makes for itself are not asked for.
async fn with_a_table() -> Pair {
    let pair = Pair::start().await;
    let body = json!({
        "TableName": "things",
        "AttributeDefinitions": [
            { "AttributeName": "pk", "AttributeType": "S" },
            { "AttributeName": "sk", "AttributeType": "S" },
        ],
        "KeySchema": [{ "AttributeName": "pk", "KeyType": "HASH" }, { "AttributeName": "sk", "KeyType": "RANGE" }],
        "BillingMode": "PAY_PER_REQUEST",
    })
    .to_string();
    for url in [pair.ours.url(), &pair.theirs] {
        let answer = pair.send(url, "DynamoDB_20120810.CreateTable", AMZ_JSON, SIGNED, &body).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    pair
}

fn item(pk: &str, n: u32) -> Value {
    json!({ "pk": { "S": pk }, "sk": { "S": "0" }, "n": { "N": n.to_string() }, "set": { "NS": ["3", "1", "2"] } })
}

#[tokio::test]
async fn what_is_done_is_answered_alike() {
    let pair = with_a_table().await;
    for (operation, body) in [
        ("PutItem", json!({ "TableName": "things", "Item": item("a", 1), "ReturnConsumedCapacity": "TOTAL" })),
        ("PutItem", json!({ "TableName": "things", "Item": item("a", 2), "ReturnValues": "ALL_OLD" })),
        ("GetItem", json!({ "TableName": "things", "Key": { "pk": { "S": "a" }, "sk": { "S": "0" } }, "ConsistentRead": true })),
        ("GetItem", json!({ "TableName": "things", "Key": { "pk": { "S": "none" }, "sk": { "S": "0" } } })),
        (
            "UpdateItem",
            json!({
                "TableName": "things",
                "Key": { "pk": { "S": "a" }, "sk": { "S": "0" } },
                "UpdateExpression": "SET n = n + :one",
                "ExpressionAttributeValues": { ":one": { "N": "1" } },
                "ReturnValues": "UPDATED_NEW",
            }),
        ),
        ("BatchWriteItem", json!({ "RequestItems": { "things": [{ "PutRequest": { "Item": item("b", 1) } }] } })),
        ("BatchGetItem", json!({ "RequestItems": { "things": { "Keys": [{ "pk": { "S": "b" }, "sk": { "S": "0" } }] } } })),
        (
            "Query",
            json!({
                "TableName": "things",
                "KeyConditionExpression": "pk = :pk",
                "ExpressionAttributeValues": { ":pk": { "S": "a" } },
                "ReturnConsumedCapacity": "INDEXES",
            }),
        ),
        ("Scan", json!({ "TableName": "things", "Select": "COUNT" })),
        (
            "TransactWriteItems",
            json!({ "TransactItems": [
                { "Put": { "TableName": "things", "Item": item("c", 1) } },
                { "ConditionCheck": {
                    "TableName": "things",
                    "Key": { "pk": { "S": "a" }, "sk": { "S": "0" } },
                    "ConditionExpression": "n = :three",
                    "ExpressionAttributeValues": { ":three": { "N": "3" } },
                } },
            ] }),
        ),
        (
            "TransactGetItems",
            json!({ "TransactItems": [{ "Get": { "TableName": "things", "Key": { "pk": { "S": "c" }, "sk": { "S": "0" } } } }] }),
        ),
        ("ExecuteStatement", json!({ "Statement": "SELECT * FROM things WHERE pk = 'c'" })),
        ("UpdateTimeToLive", json!({ "TableName": "things", "TimeToLiveSpecification": { "AttributeName": "ttl", "Enabled": true } })),
        ("DescribeTimeToLive", json!({ "TableName": "things" })),
        ("ListTables", json!({})),
        ("DeleteItem", json!({ "TableName": "things", "Key": { "pk": { "S": "b" }, "sk": { "S": "0" } }, "ReturnValues": "ALL_OLD" })),
    ] {
        let (status, answer) = pair.call(operation, body).await;
        assert_eq!(status, 200, "{operation} {answer}");
    }
}

#[tokio::test]
async fn what_is_refused_is_refused_alike() {
    let pair = with_a_table().await;
    pair.call("PutItem", json!({ "TableName": "things", "Item": item("a", 1) })).await;
    let key = json!({ "pk": { "S": "a" }, "sk": { "S": "0" } });
    let taken = json!({
        "TableName": "things",
        "Item": item("a", 2),
        "ConditionExpression": "attribute_not_exists(pk)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    });

    let (_, refused) = pair.call("PutItem", taken.clone()).await;
    assert_eq!(refused["Item"]["n"]["N"], "1");
    assert!(refused["__type"].as_str().unwrap().ends_with("#ConditionalCheckFailedException"), "{refused}");
    let put = json!({ "TableName": "things", "Item": item("b", 1) });
    let (_, refused) = pair.call("TransactWriteItems", json!({ "TransactItems": [{ "Put": put }, { "Put": taken }] })).await;
    let codes: Vec<_> = refused["CancellationReasons"].as_array().unwrap().iter().map(|reason| reason["Code"].clone()).collect();
    assert_eq!(codes, ["None", "ConditionalCheckFailed"]);
    assert_eq!(refused["CancellationReasons"][1]["Item"]["n"]["N"], "1");

    let nested = |levels: usize| (0..levels).fold(json!({ "S": "x" }), |value, _| json!({ "L": [value] }));
    let with = |x: Value| json!({ "TableName": "things", "Item": { "pk": { "S": "a" }, "sk": { "S": "0" }, "x": x } });
    let x = json!({ ":x": { "S": "x" } });
    for (operation, body) in [
        ("GetItem", json!({ "TableName": "nowhere", "Key": key })),
        ("GetItem", json!({ "TableName": "things", "Key": { "pk": { "S": "a" } } })),
        ("GetItem", json!({ "TableName": "things" })),
        ("GetItem", json!({})),
        ("GetItem", json!({ "TableName": "things", "Key": { "pk": { "S": "" }, "sk": { "S": "0" } } })),
        ("PutItem", json!({ "TableName": "things", "Item": { "pk": { "S": "a" }, "sk": { "N": "0" } } })),
        ("PutItem", with(json!({}))),
        ("PutItem", with(json!({ "SS": [] }))),
        ("PutItem", with(json!({ "SS": ["1", "1"] }))),
        ("PutItem", with(json!({ "N": "no" }))),
        ("PutItem", with(json!({ "N": "1e999" }))),
        ("PutItem", with(json!({ "NULL": false }))),
        ("PutItem", with(nested(40))),
        ("PutItem", with(nested(80))),
        ("PutItem", with(json!({ "S": "x".repeat(410_000) }))),
        ("PutItem", json!({ "TableName": "things", "Item": item("a", 1), "ReturnValues": "EVERYTHING" })),
        ("PutItem", json!({ "TableName": "t", "Item": item("a", 1) })),
        ("UpdateItem", json!({ "TableName": "things", "Key": key, "UpdateExpression": "SET" })),
        ("UpdateItem", json!({ "TableName": "things", "Key": key, "UpdateExpression": "SET pk = :x", "ExpressionAttributeValues": x })),
        ("DeleteItem", json!({ "TableName": "things", "Key": key, "ConditionExpression": "n = :x", "ExpressionAttributeValues": x })),
        ("Query", json!({ "TableName": "things", "KeyConditionExpression": "n = :x", "ExpressionAttributeValues": x })),
        (
            "Query",
            json!({
                "TableName": "things",
                "IndexName": "none",
                "KeyConditionExpression": "pk = :x",
                "ExpressionAttributeValues": x,
            }),
        ),
        ("Scan", json!({ "TableName": "things", "Limit": 0 })),
        ("BatchWriteItem", json!({ "RequestItems": {} })),
        ("TransactWriteItems", json!({ "TransactItems": [] })),
        ("CreateTable", json!({ "TableName": "things" })),
        ("DeleteTable", json!({ "TableName": "nowhere" })),
        ("ExecuteStatement", json!({ "Statement": "SELECT" })),
    ] {
        let (status, answer) = pair.call(operation, body).await;
        assert_eq!(status, 400, "{operation} {answer}");
    }
}

#[tokio::test]
async fn what_is_no_request_is_refused_alike() {
    let pair = with_a_table().await;
    let scan = r#"{"TableName":"things"}"#;
    for (target, content_type, authorization, body) in [
        ("DynamoDB_20120810.Nothing", AMZ_JSON, SIGNED, scan),
        ("Another_20120810.Scan", AMZ_JSON, SIGNED, scan),
        ("DynamoDB_20120810.Scan", AMZ_JSON, "", scan),
        ("DynamoDB_20120810.Scan", AMZ_JSON, "AWS4-HMAC-SHA256 Credential=x", scan),
        ("DynamoDB_20120810.Scan", AMZ_JSON, SIGNED, "not JSON"),
        ("DynamoDB_20120810.Scan", AMZ_JSON, SIGNED, "{\"TableName\":\"thi"),
        ("DynamoDB_20120810.Scan", AMZ_JSON, SIGNED, ""),
        ("DynamoDB_20120810.Scan", "application/json; charset=utf-8", SIGNED, scan),
    ] {
        pair.both(target, content_type, authorization, body).await;
    }
    // The one difference: in which words a JSON type is refused that no client sends.
    for url in [pair.ours.url(), &pair.theirs] {
        let answer = pair.send(url, "DynamoDB_20120810.Scan", AMZ_JSON, SIGNED, r#"{"TableName":5}"#).await;
        assert_eq!((answer.status, &answer.body["__type"]), (400, &json!("com.amazon.coral.service#SerializationException")));
    }
    for content_type in ["text/plain", "application/x-www-form-urlencoded"] {
        let answer = pair.send(pair.ours.url(), "DynamoDB_20120810.Scan", content_type, SIGNED, scan).await;
        assert_eq!(answer.status, 404, "what a page can send without asking");
    }
}
