//! The DynamoDB engine.

use std::fs;
use std::path::Path;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use local::Error;
use local::engines::dynamodb::{DynamoDb, SWEEP_EVERY, Storage};

use crate::clients::{self, eventually, has, make_table, put, s};

async fn start(path: &Path) -> Result<DynamoDb, Error> {
    DynamoDb::start(Storage::File(path.to_owned()), SWEEP_EVERY).await
}

async fn reason_for(path: &Path) -> String {
    match start(path).await {
        Err(error @ Error::DataFileBroken { .. }) => error.to_string(),
        Err(other) => panic!("another error: {other}"),
        Ok(_) => panic!("a broken file was served"),
    }
}

#[tokio::test]
async fn the_sdk_client_works_against_it() {
    let engine = DynamoDb::start(Storage::Memory, SWEEP_EVERY).await.unwrap();
    let client = clients::dynamodb(engine.url());
    make_table(&client, "things").await;
    put(&client, "things", "a").await;
    assert!(has(&client, "things", "a").await);

    let refused = client
        .put_item()
        .table_name("things")
        .item("pk", s("a"))
        .item("sk", s("0"))
        .condition_expression("attribute_not_exists(pk)")
        .send()
        .await
        .unwrap_err()
        .into_service_error();
    assert!(refused.is_conditional_check_failed_exception());
    engine.stop().await;
}

#[tokio::test]
async fn a_page_is_refused_and_reaches_no_table() {
    let engine = DynamoDb::start(Storage::Memory, SWEEP_EVERY).await.unwrap();
    let client = clients::dynamodb(engine.url());
    make_table(&client, "things").await;
    put(&client, "things", "hidden").await;
    let http = reqwest::Client::new();
    let call = |operation: &str, body: &'static str| {
        http.post(engine.url())
            .header("content-type", "application/x-amz-json-1.0")
            .header("x-amz-target", format!("DynamoDB_20120810.{operation}"))
            .header("authorization", "AWS4-HMAC-SHA256 Credential=x, SignedHeaders=x, Signature=x")
            .header("x-amz-date", "x")
            .body(body)
    };
    assert_eq!(call("Scan", r#"{"TableName":"things"}"#).send().await.unwrap().status(), 200);
    for (name, value) in [("origin", "http://evil.example"), ("origin", "null"), ("host", "evil.example"), ("host", "evil.example:80")] {
        for (operation, body) in [("Scan", r#"{"TableName":"things"}"#), ("DeleteTable", r#"{"TableName":"things"}"#)] {
            let answer = call(operation, body).header(name, value).send().await.unwrap();
            assert_eq!(answer.status(), 403, "{name} {value}");
            assert!(!answer.headers().contains_key("access-control-allow-origin"));
            assert!(!answer.text().await.unwrap().contains("hidden"));
        }
    }
    clients::assert_preflight_is_refused(engine.url()).await;
    assert!(has(&client, "things", "hidden").await);
    engine.stop().await;
}

#[tokio::test]
async fn a_file_keeps_its_tables_and_is_closed_at_a_stop() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("dynamodb.db");
    let engine = start(&path).await.unwrap();
    let client = clients::dynamodb(engine.url());
    make_table(&client, "things").await;
    put(&client, "things", "a").await;
    engine.stop().await;
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["dynamodb.db"], "the log is merged");

    let engine = start(&path).await.unwrap();
    assert!(has(&clients::dynamodb(engine.url()), "things", "a").await);
    engine.stop().await;
}

#[cfg(unix)]
#[tokio::test]
async fn its_file_is_for_its_owner_alone_and_so_is_the_log() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("dynamodb.db");
    let engine = start(&path).await.unwrap();
    make_table(&clients::dynamodb(engine.url()), "things").await;
    for name in ["dynamodb.db", "dynamodb.db-wal"] {
        let mode = fs::metadata(dir.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    engine.stop().await;
}

#[tokio::test]
async fn rows_past_their_ttl_vanish() {
    let engine = DynamoDb::start(Storage::Memory, Duration::from_millis(10)).await.unwrap();
    let client = clients::dynamodb(engine.url());
    make_table(&client, "things").await;
    let hour_ago = jiff::Timestamp::now().as_second() - 3600;
    client
        .put_item()
        .table_name("things")
        .item("pk", s("old"))
        .item("sk", s("0"))
        .item("purge_at", AttributeValue::N(hour_ago.to_string()))
        .send()
        .await
        .unwrap();
    put(&client, "things", "kept").await;
    eventually("the sweep", || async { !has(&client, "things", "old").await }).await;
    assert!(has(&client, "things", "kept").await);
    engine.stop().await;
}

#[tokio::test]
async fn garbage_in_the_files_place_is_told_before_anything_is_served() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("dynamodb.db");
    fs::write(&path, "no database ".repeat(100)).unwrap();
    let told = reason_for(&path).await;
    assert!(told.contains("it is not a SQLite database"), "{told}");
    assert!(!told.contains('\n'));
    assert_eq!(fs::read_to_string(&path).unwrap(), "no database ".repeat(100), "it is left as it was");
}

#[tokio::test]
async fn a_folder_in_the_files_place_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("dynamodb.db");
    fs::create_dir(&path).unwrap();
    assert!(reason_for(&path).await.contains("it is a folder"));
}

#[tokio::test]
async fn an_emptied_file_is_not_taken_for_a_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("dynamodb.db");
    fs::write(&path, "").unwrap();
    assert!(reason_for(&path).await.contains("it was cut off"));
}

#[tokio::test]
async fn a_truncated_file_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = filled(dir.path()).await;
    let whole = fs::metadata(&path).unwrap().len();
    fs::File::options().write(true).open(&path).unwrap().set_len(whole - 4096).unwrap();
    let told = reason_for(&path).await;
    assert!(told.contains(&format!("it was cut off ({} of {whole} bytes)", whole - 4096)), "{told}");
}

#[tokio::test]
async fn damage_in_the_middle_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = filled(dir.path()).await;
    let mut bytes = fs::read(&path).unwrap();
    let pages = bytes.len() / 4096;
    for page in 1..pages {
        bytes[page * 4096..page * 4096 + 64].fill(0xA5);
    }
    fs::write(&path, bytes).unwrap();
    let told = reason_for(&path).await;
    assert!(!told.contains('\n'), "{told}");
}

#[tokio::test]
async fn a_missing_file_beside_its_log_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("dynamodb.db");
    fs::write(dir.path().join("dynamodb.db-wal"), "changes").unwrap();
    assert!(reason_for(&path).await.contains("it is gone"));
}

async fn filled(dir: &Path) -> std::path::PathBuf {
    let path = dir.join("dynamodb.db");
    let engine = start(&path).await.unwrap();
    let client = clients::dynamodb(engine.url());
    make_table(&client, "things").await;
    for n in 0..20 {
        client
            .put_item()
            .table_name("things")
            .item("pk", s(n.to_string()))
            .item("sk", s("0"))
            .item("text", s("x".repeat(2000)))
            .send()
            .await
            .unwrap();
    }
    engine.stop().await;
    path
}
