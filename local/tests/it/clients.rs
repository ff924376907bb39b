//! The real SDK clients, and waiting for what happens soon.

use std::time::{Duration, Instant};

use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection, ProjectionType,
    ScalarAttributeType, TimeToLiveSpecification,
};

/// The client of a service at this URL: the services' builders are alike and share no type.
macro_rules! client {
    ($sdk:ident, $url:expr) => {{
        use $sdk::config::{BehaviorVersion, Builder, Credentials, Region};
        let config = Builder::new()
            .behavior_version(BehaviorVersion::latest())
            .endpoint_url($url)
            .region(Region::new("eu-central-1"))
            .credentials_provider(Credentials::from_keys("test", "test", None))
            .http_client(aws_smithy_http_client::Builder::new().build_http())
            .build();
        $sdk::Client::from_conf(config)
    }};
}

pub fn dynamodb(url: &str) -> aws_sdk_dynamodb::Client {
    client!(aws_sdk_dynamodb, url)
}

pub fn secrets(url: &str) -> aws_sdk_secretsmanager::Client {
    client!(aws_sdk_secretsmanager, url)
}

/// A table with a string key, a sort key, an index and a TTL.
pub async fn make_table(client: &aws_sdk_dynamodb::Client, name: &str) {
    let attribute =
        |name: &str| AttributeDefinition::builder().attribute_name(name).attribute_type(ScalarAttributeType::S).build().unwrap();
    let key = |name: &str, kind| KeySchemaElement::builder().attribute_name(name).key_type(kind).build().unwrap();
    client
        .create_table()
        .table_name(name)
        .billing_mode(BillingMode::PayPerRequest)
        .set_attribute_definitions(Some(vec![attribute("pk"), attribute("sk"), attribute("kind")]))
        .set_key_schema(Some(vec![key("pk", KeyType::Hash), key("sk", KeyType::Range)]))
        .global_secondary_indexes(
            GlobalSecondaryIndex::builder()
                .index_name("by_kind")
                .set_key_schema(Some(vec![key("kind", KeyType::Hash), key("sk", KeyType::Range)]))
                .projection(Projection::builder().projection_type(ProjectionType::All).build())
                .build()
                .unwrap(),
        )
        .send()
        .await
        .unwrap();
    client
        .update_time_to_live()
        .table_name(name)
        .time_to_live_specification(TimeToLiveSpecification::builder().attribute_name("purge_at").enabled(true).build().unwrap())
        .send()
        .await
        .unwrap();
}

pub fn s(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

pub async fn put(client: &aws_sdk_dynamodb::Client, table: &str, pk: &str) {
    client.put_item().table_name(table).item("pk", s(pk)).item("sk", s("0")).send().await.unwrap();
}

pub async fn has(client: &aws_sdk_dynamodb::Client, table: &str, pk: &str) -> bool {
    let got = client.get_item().table_name(table).key("pk", s(pk)).key("sk", s("0")).send().await.unwrap();
    got.item.is_some()
}

/// What a browser asks before it lets a page send what an engine would obey.
pub async fn assert_preflight_is_refused(url: &str) {
    let asked = reqwest::Client::new()
        .request(reqwest::Method::OPTIONS, url)
        .header("origin", "http://evil.example")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "x-amz-target, authorization, content-type");
    let answer = asked.send().await.unwrap();
    assert_eq!(answer.status(), 403);
    assert!(!answer.headers().keys().any(|name| name.as_str().starts_with("access-control-")), "{:?}", answer.headers());
}

/// Asks again and again, at most for the seconds that a busy machine may need.
pub async fn eventually<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds().await {
        assert!(Instant::now() < deadline, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
