//! The Secrets Manager engine.

use std::fs;

use aws_sdk_secretsmanager::Client;
use aws_sdk_secretsmanager::error::ProvideErrorMetadata;
use aws_sdk_secretsmanager::primitives::Blob;
use local::Error;
use local::engines::secrets::{SecretStore, SecretsManager};

use crate::clients;

async fn start() -> (SecretsManager, Client) {
    let engine = SecretsManager::start(SecretStore::memory()).await.unwrap();
    let client = clients::secrets(engine.url());
    (engine, client)
}

async fn current(client: &Client, id: &str) -> String {
    client.get_secret_value().secret_id(id).send().await.unwrap().secret_string.unwrap()
}

#[tokio::test]
async fn a_secret_is_read_by_name_by_arn_and_by_arn_without_its_suffix() {
    let (_engine, client) = start().await;
    let made = client.create_secret().name("app/pepper").secret_string("one").send().await.unwrap();
    let arn = made.arn.unwrap();
    assert!(arn.starts_with("arn:aws:secretsmanager:") && arn.contains(":secret:app/pepper-"), "{arn}");
    for id in ["app/pepper", &arn, &arn[..arn.len() - 7]] {
        let got = client.get_secret_value().secret_id(id).send().await.unwrap();
        assert_eq!(got.secret_string.as_deref(), Some("one"));
        assert_eq!(got.name.as_deref(), Some("app/pepper"));
        assert_eq!(got.arn.as_deref(), Some(arn.as_str()));
        assert_eq!(got.version_id, made.version_id);
        assert_eq!(got.version_stages.unwrap(), ["AWSCURRENT"]);
        assert!(got.created_date.unwrap().secs() > 1_600_000_000);
    }
}

#[tokio::test]
async fn a_new_value_moves_the_labels() {
    let (_engine, client) = start().await;
    client.create_secret().name("s").secret_string("one").send().await.unwrap();
    let previous = || client.get_secret_value().secret_id("s").version_stage("AWSPREVIOUS").send();
    let error = previous().await.unwrap_err().into_service_error();
    assert!(error.is_resource_not_found_exception());

    let second = client.put_secret_value().secret_id("s").secret_string("two").send().await.unwrap();
    assert_eq!(second.version_stages.unwrap(), ["AWSCURRENT"]);
    assert_eq!(current(&client, "s").await, "two");
    assert_eq!(previous().await.unwrap().secret_string.unwrap(), "one");

    client.put_secret_value().secret_id("s").secret_string("three").send().await.unwrap();
    assert_eq!(current(&client, "s").await, "three");
    assert_eq!(previous().await.unwrap().secret_string.unwrap(), "two");

    let described = client.describe_secret().secret_id("s").send().await.unwrap();
    let stages = described.version_ids_to_stages.unwrap();
    assert_eq!(stages.len(), 2, "the first version has no label any more");
    assert_eq!(stages[&second.version_id.unwrap()], ["AWSPREVIOUS"]);

    let listed = client.list_secret_version_ids().secret_id("s").send().await.unwrap();
    assert_eq!(listed.versions.unwrap().len(), 2);
    let listed = client.list_secret_version_ids().secret_id("s").include_deprecated(true).send().await.unwrap();
    assert_eq!(listed.versions.unwrap().len(), 3);
}

#[tokio::test]
async fn a_version_is_read_by_its_id_and_only_with_a_label_it_has() {
    let (_engine, client) = start().await;
    let first = client.create_secret().name("s").secret_string("one").send().await.unwrap().version_id.unwrap();
    client.put_secret_value().secret_id("s").secret_string("two").send().await.unwrap();
    let get = || client.get_secret_value().secret_id("s").version_id(&first);
    assert_eq!(get().send().await.unwrap().secret_string.unwrap(), "one");
    assert_eq!(get().version_stage("AWSPREVIOUS").send().await.unwrap().secret_string.unwrap(), "one");
    let error = get().version_stage("AWSCURRENT").send().await.unwrap_err().into_service_error();
    assert!(error.is_resource_not_found_exception());
}

#[tokio::test]
async fn own_labels_move_alone() {
    let (_engine, client) = start().await;
    client.create_secret().name("s").secret_string("one").send().await.unwrap();
    client.put_secret_value().secret_id("s").secret_string("next").version_stages("PENDING").send().await.unwrap();
    assert_eq!(current(&client, "s").await, "one");
    let pending = client.get_secret_value().secret_id("s").version_stage("PENDING").send().await.unwrap();
    assert_eq!(pending.secret_string.unwrap(), "next");
}

#[tokio::test]
async fn the_same_request_again_changes_nothing() {
    let (engine, client) = start().await;
    let token = "6f1c7d0e-8b1f-4a52-9a5e-0d6c1b3f2a10";
    client.create_secret().name("s").secret_string("one").send().await.unwrap();
    for _ in 0..2 {
        client.put_secret_value().secret_id("s").client_request_token(token).secret_string("two").send().await.unwrap();
    }
    assert_eq!(engine.store().all()[0].versions.len(), 2);
    let error = client
        .put_secret_value()
        .secret_id("s")
        .client_request_token(token)
        .secret_string("other")
        .send()
        .await
        .unwrap_err()
        .into_service_error();
    assert!(error.is_resource_exists_exception());
    assert_eq!(current(&client, "s").await, "two");

    for _ in 0..2 {
        client.create_secret().name("t").client_request_token(token).secret_string("t").send().await.unwrap();
    }
    assert_eq!(engine.store().all().len(), 2);
}

#[tokio::test]
async fn bytes_come_back_as_they_were() {
    let (_engine, client) = start().await;
    let bytes: Vec<u8> = (0..=255).collect();
    client.create_secret().name("b").secret_binary(Blob::new(bytes.clone())).send().await.unwrap();
    let got = client.get_secret_value().secret_id("b").send().await.unwrap();
    assert_eq!(got.secret_binary.unwrap().into_inner(), bytes);
    assert_eq!(got.secret_string, None);
}

#[tokio::test]
async fn refusals_have_the_types_that_the_client_knows() {
    let (_engine, client) = start().await;
    let error = client.get_secret_value().secret_id("none").send().await.unwrap_err().into_service_error();
    assert!(error.is_resource_not_found_exception());
    assert_eq!(error.message(), Some("Secrets Manager can't find the specified secret."));

    client.create_secret().name("empty").send().await.unwrap();
    let error = client.get_secret_value().secret_id("empty").send().await.unwrap_err().into_service_error();
    assert!(error.is_resource_not_found_exception());

    let error = client.create_secret().name("empty").secret_string("x").send().await.unwrap_err().into_service_error();
    assert!(error.is_resource_exists_exception());
    let error = client.create_secret().name("not a name").send().await.unwrap_err().into_service_error();
    assert!(error.is_invalid_parameter_exception());
    let error = client.put_secret_value().secret_id("empty").send().await.unwrap_err().into_service_error();
    assert!(error.is_invalid_request_exception());
    let large = "x".repeat(65_537);
    let error = client.put_secret_value().secret_id("empty").secret_string(large).send().await.unwrap_err().into_service_error();
    assert!(error.is_invalid_parameter_exception());
    let error = client.list_secrets().send().await.unwrap_err().into_service_error();
    assert_eq!(error.code(), Some("UnknownOperationException"));
}

#[tokio::test]
async fn a_browser_is_refused() {
    let (engine, client) = start().await;
    client.create_secret().name("s").secret_string("hidden").send().await.unwrap();
    let http = reqwest::Client::new();
    let call = || {
        http.post(engine.url())
            .header("x-amz-target", "secretsmanager.GetSecretValue")
            .header("authorization", "AWS4-HMAC-SHA256 Credential=x")
            .body(r#"{"SecretId":"s"}"#)
    };
    assert_eq!(call().send().await.unwrap().status(), 200);
    for (name, value) in [("origin", "http://evil.example"), ("host", "evil.example")] {
        let answer = call().header(name, value).send().await.unwrap();
        assert_eq!(answer.status(), 403, "{name}");
        assert!(!answer.text().await.unwrap().contains("hidden"));
    }
    clients::assert_preflight_is_refused(engine.url()).await;
}

#[tokio::test]
async fn errors_say_their_type_in_the_body_and_in_a_header_and_quote_nothing() {
    let (engine, _client) = start().await;
    let http = reqwest::Client::new();
    let answer = http
        .post(engine.url())
        .header("x-amz-target", "secretsmanager.PutSecretValue")
        .header("authorization", "AWS4-HMAC-SHA256 Credential=x")
        .body(r#"{"SecretId":"s","SecretString":{"hidden":1}}"#)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 400);
    assert_eq!(answer.headers()["x-amzn-errortype"], "InvalidParameterException");
    let body: serde_json::Value = answer.json().await.unwrap();
    assert_eq!(body["__type"], "InvalidParameterException");
    assert!(!body.to_string().contains("hidden"));
}

#[tokio::test]
async fn secrets_survive_and_their_file_is_for_its_owner_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("secrets.json");
    let engine = SecretsManager::start(SecretStore::open(path.clone()).unwrap()).await.unwrap();
    let client = clients::secrets(engine.url());
    client.create_secret().name("s").secret_string("one").send().await.unwrap();
    client.put_secret_value().secret_id("s").secret_string("two").send().await.unwrap();
    let before = engine.store().all();
    engine.stop().await;
    assert_eq!(SecretStore::open(path.clone()).unwrap().all(), before);
    let names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["secrets.json"], "nothing temporary is left");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[tokio::test]
async fn a_broken_file_is_told_without_quoting_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("secrets.json");
    fs::write(&path, r#"{"format":1,"secrets":"hidden"}"#).unwrap();
    let error = SecretStore::open(path.clone()).unwrap_err();
    assert!(matches!(error, Error::DataFileBroken { .. }));
    let told = error.to_string();
    assert!(told.contains("line 1") && !told.contains("hidden"), "{told}");

    fs::write(&path, r#"{"format":2,"secrets":[]}"#).unwrap();
    assert!(SecretStore::open(path.clone()).unwrap_err().to_string().contains("format 2"));

    for (name, arn, fault) in [
        ("app", "hidden-ééé", "has an ARN that does not belong to its name"),
        ("app", "é", "has an ARN that does not belong to its name"),
        ("app", "arn:aws:secretsmanager:x:0:secret:other-abcdef", "has an ARN that does not belong to its name"),
        ("hidden é", "arn:aws:secretsmanager:x:0:secret:hidden é-abcdef", "has a name that no secret can have"),
    ] {
        let secret = serde_json::json!({ "name": name, "arn": arn, "created_ms": 0, "changed_ms": 0, "versions": [] });
        fs::write(&path, serde_json::json!({ "format": 1, "secrets": [secret] }).to_string()).unwrap();
        let told = SecretStore::open(path.clone()).unwrap_err().to_string();
        assert!(told.contains(&format!("its secret 1 {fault}")) && !told.contains("hidden"), "{told}");
    }
}

#[test]
fn a_refusal_reads_as_what_it_says() {
    let told = SecretStore::memory().create("not a name", None, None, None).unwrap_err().to_string();
    assert!(told.starts_with("Invalid name. Must be a valid name"), "{told}");
}

#[tokio::test]
async fn a_change_that_cannot_be_written_is_not_made() {
    let dir = tempfile::tempdir().unwrap();
    let below = dir.path().join("gone");
    fs::create_dir(&below).unwrap();
    let engine = SecretsManager::start(SecretStore::open(below.join("secrets.json")).unwrap()).await.unwrap();
    let client = clients::secrets(engine.url());
    client.create_secret().name("s").secret_string("one").send().await.unwrap();
    fs::remove_dir_all(&below).unwrap();
    fs::write(&below, "a file now").unwrap();
    let request = serde_json::json!({ "SecretId": "s", "SecretString": "two", "ClientRequestToken": "x".repeat(32) });
    let answer = reqwest::Client::new()
        .post(engine.url())
        .header("x-amz-target", "secretsmanager.PutSecretValue")
        .header("authorization", "AWS4-HMAC-SHA256 Credential=x")
        .body(request.to_string())
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 500);
    assert_eq!(answer.headers()["x-amzn-errortype"], "InternalServiceError");
    assert_eq!(current(&client, "s").await, "one");
}
