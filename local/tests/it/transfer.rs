//! Export and import.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, KeySchemaElement, KeyType, LocalSecondaryIndex, Projection, ProjectionType, ProvisionedThroughput,
    ScalarAttributeType, StreamSpecification, StreamViewType, Tag,
};
use local::Error;
use local::data::DataFolder;
use local::engines::dynamodb::{DynamoDb, SWEEP_EVERY, Storage};
use local::engines::secrets::{SecretStore, SecretsManager};
use local::transfer::{Totals, export, import};

use crate::clients::{self, make_table, s};
use crate::stack::start;

type Item = HashMap<String, AttributeValue>;

/// One of everything that an item can hold.
fn everything() -> Item {
    let n = |digits: &str| AttributeValue::N(digits.into());
    let bytes: Vec<u8> = (0..=255).collect();
    HashMap::from([
        ("pk".to_owned(), s("org#1")),
        ("sk".to_owned(), s("line\nbreak \"quoted\" \u{1F680}")),
        ("kind".to_owned(), s("indexed")),
        ("text".to_owned(), s("")),
        ("long".to_owned(), n("12345678901234567890123456789012345678")),
        ("small".to_owned(), n("-0.00000000000000000000000000012345678901")),
        ("bytes".to_owned(), AttributeValue::B(Blob::new(bytes))),
        ("yes".to_owned(), AttributeValue::Bool(true)),
        ("nothing".to_owned(), AttributeValue::Null(true)),
        ("texts".to_owned(), AttributeValue::Ss(vec!["a".into(), "b".into()])),
        ("numbers".to_owned(), AttributeValue::Ns(vec!["-1".into(), "2.5".into()])),
        ("blobs".to_owned(), AttributeValue::Bs(vec![Blob::new([0]), Blob::new([255, 0])])),
        (
            "nested".to_owned(),
            AttributeValue::M(HashMap::from([
                ("list".to_owned(), AttributeValue::L(vec![n("1"), s("x"), AttributeValue::M(HashMap::new())])),
                ("deep".to_owned(), AttributeValue::M(HashMap::from([("bool".to_owned(), AttributeValue::Bool(false))]))),
            ])),
        ),
    ])
}

/// A table that is set up otherwise than `make_table`'s, in as much as can be.
async fn make_elaborate_table(client: &aws_sdk_dynamodb::Client) {
    let attribute = |name: &str, kind| AttributeDefinition::builder().attribute_name(name).attribute_type(kind).build().unwrap();
    let key = |name: &str, kind| KeySchemaElement::builder().attribute_name(name).key_type(kind).build().unwrap();
    let projection = Projection::builder().projection_type(ProjectionType::Include).non_key_attributes("text").build();
    client
        .create_table()
        .table_name("elaborate")
        .attribute_definitions(attribute("n", ScalarAttributeType::N))
        .attribute_definitions(attribute("b", ScalarAttributeType::B))
        .attribute_definitions(attribute("other", ScalarAttributeType::S))
        .key_schema(key("n", KeyType::Hash))
        .key_schema(key("b", KeyType::Range))
        .local_secondary_indexes(
            LocalSecondaryIndex::builder()
                .index_name("by_other")
                .key_schema(key("n", KeyType::Hash))
                .key_schema(key("other", KeyType::Range))
                .projection(projection)
                .build()
                .unwrap(),
        )
        .provisioned_throughput(ProvisionedThroughput::builder().read_capacity_units(3).write_capacity_units(4).build().unwrap())
        .stream_specification(
            StreamSpecification::builder().stream_enabled(true).stream_view_type(StreamViewType::NewImage).build().unwrap(),
        )
        .deletion_protection_enabled(true)
        .tags(Tag::builder().key("team").value("one").build().unwrap())
        .send()
        .await
        .unwrap();
    let item = client.put_item().table_name("elaborate").item("n", AttributeValue::N("-1.5".into()));
    item.item("b", AttributeValue::B(Blob::new([0, 1, 255]))).send().await.unwrap();
}

/// Fills the engines alone: no product has put its own data beside.
async fn fill(data: &Path) {
    let folder = DataFolder::open(data).unwrap();
    let secrets_engine = SecretsManager::start(SecretStore::open(folder.secrets()).unwrap()).await.unwrap();
    let dynamodb = DynamoDb::start(Storage::File(folder.dynamodb()), SWEEP_EVERY).await.unwrap();
    let tables = clients::dynamodb(dynamodb.url());
    make_table(&tables, "things").await;
    make_table(&tables, "empty").await;
    make_elaborate_table(&tables).await;
    tables.put_item().table_name("things").set_item(Some(everything())).send().await.unwrap();
    // More than one page of a scan (1 MB).
    for n in 0..6 {
        let item = tables.put_item().table_name("things").item("pk", s("large")).item("sk", s(n.to_string()));
        item.item("text", s("\u{1}".repeat(300_000))).send().await.unwrap();
    }
    let secrets = clients::secrets(secrets_engine.url());
    secrets.create_secret().name("pepper").description("why").secret_string("one").send().await.unwrap();
    secrets.put_secret_value().secret_id("pepper").secret_string("two").send().await.unwrap();
    let blob = Blob::new([0, 255]);
    secrets.create_secret().name("bytes").secret_binary(blob).send().await.unwrap();
    tokio::join!(dynamodb.stop(), secrets_engine.stop());
}

const FILLED: Totals = Totals { tables: 3, items: 8, secrets: 2, secret_versions: 3 };

fn exported(data: &Path) -> String {
    let mut out = Vec::new();
    assert_eq!(export(data, &mut out).unwrap(), FILLED);
    String::from_utf8(out).unwrap()
}

/// What a bad export is refused with; nothing may be left of it.
fn refused(text: &str) -> (u64, String) {
    let dir = tempfile::tempdir().unwrap();
    match import(dir.path(), text.as_bytes()) {
        Err(Error::BadExport { line, reason }) => {
            let mut left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            left.sort();
            assert_eq!(left, [".gitignore", "ONEPOST.TAG", "lock", "mail"], "{reason}");
            (line, reason)
        }
        Err(other) => panic!("another error: {other}"),
        Ok(_) => panic!("a bad export was imported"),
    }
}

fn without_time(export: &str) -> String {
    let (_, rest) = export.split_once('\n').unwrap();
    // The digest is over the time as well.
    rest.rsplit_once("\"secrets\"").unwrap().0.rsplit_once("\"end\"").unwrap().0.to_owned()
}

#[tokio::test]
async fn everything_comes_back_exactly() {
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("from"), dir.path().join("to"));
    fill(&from).await;
    let text = exported(&from);
    assert!(text.starts_with(r#"{"onepost_export":1,"exported_at":""#), "{}", &text[..60]);
    assert!(text.contains(r#"{"table":"things","item":{"#));
    assert!(text.contains(r#"{"N":"12345678901234567890123456789012345678"}"#));
    assert_eq!(import(&to, text.as_bytes()).unwrap(), FILLED);
    assert_eq!(without_time(&exported(&to)), without_time(&text), "the same data gives the same lines");

    let stack = start(&to).await.unwrap();
    let tables = clients::dynamodb(&stack.dynamodb_url);
    let all = everything();
    let got = tables.get_item().table_name("things").key("pk", all["pk"].clone()).key("sk", all["sk"].clone()).send().await.unwrap();
    assert_eq!(got.item.unwrap(), all);

    let table = tables.describe_table().table_name("elaborate").send().await.unwrap().table.unwrap();
    assert_eq!(table.deletion_protection_enabled, Some(true));
    assert_eq!(table.provisioned_throughput.unwrap().read_capacity_units, Some(3));
    let index = &table.local_secondary_indexes.unwrap()[0];
    assert_eq!(index.projection.as_ref().unwrap().non_key_attributes.as_deref().unwrap(), ["text"]);
    let tags = tables.list_tags_of_resource().resource_arn(table.table_arn.unwrap()).send().await.unwrap();
    assert_eq!(tags.tags.unwrap()[0].value, "one");

    let indexed = tables
        .query()
        .table_name("things")
        .index_name("by_kind")
        .key_condition_expression("kind = :kind")
        .expression_attribute_values(":kind", s("indexed"))
        .send()
        .await
        .unwrap();
    assert_eq!(indexed.items.unwrap(), [all]);
    for table in ["things", "empty"] {
        let ttl = tables.describe_time_to_live().table_name(table).send().await.unwrap();
        assert_eq!(ttl.time_to_live_description.unwrap().attribute_name.as_deref(), Some("purge_at"));
    }

    let secrets = clients::secrets(&stack.secrets_url);
    let get = |stage: &str| secrets.get_secret_value().secret_id("pepper").version_stage(stage).send();
    assert_eq!(get("AWSCURRENT").await.unwrap().secret_string.unwrap(), "two");
    assert_eq!(get("AWSPREVIOUS").await.unwrap().secret_string.unwrap(), "one");
    let bytes = secrets.get_secret_value().secret_id("bytes").send().await.unwrap();
    assert_eq!(bytes.secret_binary.unwrap().into_inner(), [0, 255]);
    stack.stop().await.unwrap();
}

#[tokio::test]
async fn a_cut_export_is_refused_wherever_it_is_cut() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path()).await;
    let text = exported(dir.path());
    let lines: Vec<_> = text.lines().collect();
    for kept in 1..lines.len() {
        let (line, reason) = refused(&(lines[..kept].join("\n") + "\n"));
        assert_eq!(line, kept as u64 + 1);
        assert!(reason.contains("is missing"), "{reason}");
    }
    let (line, reason) = refused(&text[..text.len() - 20]);
    assert_eq!(line, lines.len() as u64);
    assert!(reason.contains("is not whole JSON"), "{reason}");
    let (line, reason) = refused("");
    assert_eq!((line, reason.as_str()), (1, "is missing: the file is empty"));
}

#[tokio::test]
async fn a_changed_export_is_refused_with_the_line() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path()).await;
    let text = exported(dir.path());
    let lines: Vec<_> = text.lines().map(str::to_owned).collect();
    let last = lines.len() as u64;
    let with = |at: usize, line: &str| {
        let mut changed = lines.clone();
        changed[at] = line.to_owned();
        changed.join("\n") + "\n"
    };

    let (line, reason) = refused(&with(0, r#"{"onepost_export":2,"new":true}"#));
    assert!(line == 1 && reason.contains("of format 2"), "{reason}");
    assert_eq!(refused(&with(0, "{}")).0, 1);
    assert_eq!(refused(&with(2, "not JSON")), (3, "is not whole JSON (column 2)".into()));
    assert_eq!(refused(&with(2, r#"{"unknown":1}"#)), (3, "is not a line of an export".into()));
    assert_eq!(refused(&with(2, "")).0, 3);

    let item = lines.iter().position(|line| line.contains("12345678901234567890123456789012345678")).unwrap();
    let other = lines.iter().position(|line| line.contains(r#""pk":{"S":"large"}"#)).unwrap();
    let (line, reason) = refused(&with(item, &lines[item].replace("\"indexed\"", "\"another\"")));
    assert!(line == last && reason.contains("has been changed"), "{reason}");
    let (line, reason) = refused(&with(item, r#"{"table":"things","item":{"pk":{"S":"no sort key"}}}"#));
    assert!(line == item as u64 + 1 && reason.starts_with("was refused: "), "{reason}");
    let (line, reason) = refused(&with(item, r#"{"table":"nowhere","item":{"pk":{"S":"x"}}}"#));
    assert!(line == item as u64 + 1 && reason.contains("not defined above"), "{reason}");

    let mut missing = lines.clone();
    missing.remove(item);
    let (line, reason) = refused(&(missing.join("\n") + "\n"));
    assert!(line == last - 1 && reason.contains("8 items") && reason.contains("7 items"), "{reason}");
    let (line, reason) = refused(&with(item, &lines[other]));
    assert!(line == last && reason.contains("has been changed"), "{reason}");
    let undigested = |text: &str| {
        let (before, after) = text.rsplit_once(",\"sha256\":").unwrap();
        format!("{before}{}", &after[66..])
    };
    let (line, reason) = refused(&undigested(&with(item, &lines[other])));
    assert!(line == last && reason.contains("an item twice"), "{reason}");

    let (line, reason) = refused(&(text + &lines[1] + "\n"));
    assert!(line == last + 1 && reason.contains("after the last line"), "{reason}");

    // Edited on purpose, with the digest taken out.
    let to = tempfile::tempdir().unwrap();
    let edited = undigested(&with(item, &lines[item].replace("\"indexed\"", "\"another\"")));
    assert_eq!(import(to.path(), edited.as_bytes()).unwrap(), FILLED);
}

#[tokio::test]
async fn a_bad_line_never_quotes_a_secret() {
    let text = "{\"onepost_export\":1}\n{\"secret_version\":{\"secret\":\"hidden\",\"id\":\"hidden\",\"stages\":\"hidden\"}}\n";
    let (line, reason) = refused(text);
    assert_eq!((line, reason.as_str()), (2, "is not a line of an export"));
}

#[tokio::test]
async fn an_import_adds_to_nothing() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path()).await;
    let text = exported(dir.path());
    assert!(matches!(import(dir.path(), text.as_bytes()), Err(Error::HasData { .. })));
    assert_eq!(without_time(&exported(dir.path())), without_time(&text));
}

#[tokio::test]
async fn neither_way_works_on_a_running_stack() {
    let dir = tempfile::tempdir().unwrap();
    let stack = start(dir.path()).await.unwrap();
    assert!(matches!(export(dir.path(), Vec::new()), Err(Error::FolderInUse { .. })));
    assert!(matches!(import(dir.path(), &b""[..]), Err(Error::FolderInUse { .. })));
    stack.stop().await.unwrap();
}

#[test]
fn there_is_nothing_to_export_where_there_is_no_data_and_no_folder_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing");
    assert!(matches!(export(&missing, Vec::new()), Err(Error::NoData { .. })));
    assert!(!missing.exists());
    drop(DataFolder::open(&missing).unwrap());
    assert!(matches!(export(&missing, Vec::new()), Err(Error::NoData { .. })));
}

#[test]
fn an_export_puts_nothing_into_an_empty_folder() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(export(dir.path(), Vec::new()), Err(Error::NoData { .. })));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_secret_whose_name_or_arn_cannot_be_is_refused_with_its_line() {
    let line = |name: &str, arn: &str| {
        let secret = serde_json::json!({ "name": name, "arn": arn, "description": null, "created_ms": 0, "changed_ms": 0 });
        format!("{{\"onepost_export\":1}}\n{}\n", serde_json::json!({ "secret": secret }))
    };
    let told = (2, "holds a secret that has an ARN that does not belong to its name".to_owned());
    for arn in ["ééééé", "arn:aws:secretsmanager:x:0:secret:app-éééaa", "arn:aws:secretsmanager:x:0:secret:other-abcdef", ""] {
        assert_eq!(refused(&line("app", arn)), told, "{arn}");
    }
    let told = (2, "holds a secret that has a name that no secret can have".to_owned());
    assert_eq!(refused(&line("ä b", "arn:aws:secretsmanager:x:0:secret:ä b-abcdef")), told);
}
