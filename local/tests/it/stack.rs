//! The stack within this process, and its data folder.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use local::Error;
use local::data::DataFolder;
use local::engines::dynamodb::{DynamoDb, SWEEP_EVERY, Storage};
use local::stack::{Options, Running, Stack};
use local::transfer::{export, import};

use crate::clients::{self, has, make_table, put};

pub async fn start(data: &Path) -> Result<Running, Error> {
    Stack::start(Options { port: 0, data: data.to_owned() }).await
}

/// The error of what must not succeed.
fn error<T>(outcome: Result<T, Error>) -> Error {
    match outcome {
        Ok(_) => panic!("it must not succeed"),
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "one line: {error}");
            error
        }
    }
}

#[tokio::test]
async fn everything_answers_and_is_there_again_after_a_stop() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("new/data");
    let stack = start(&data).await.unwrap();
    assert_eq!(reqwest::get(&stack.base_url).await.unwrap().status(), 200);
    let tables = clients::dynamodb(&stack.dynamodb_url);
    make_table(&tables, "things").await;
    put(&tables, "things", "a").await;
    let secrets = clients::secrets(&stack.secrets_url);
    secrets.create_secret().name("s").secret_string("one").send().await.unwrap();
    stack.stop().await.unwrap();

    let stack = start(&data).await.unwrap();
    assert!(has(&clients::dynamodb(&stack.dynamodb_url), "things", "a").await);
    let secret = clients::secrets(&stack.secrets_url).get_secret_value().secret_id("s").send().await.unwrap();
    assert_eq!(secret.secret_string.unwrap(), "one");
    stack.stop().await.unwrap();
}

#[tokio::test]
async fn the_engines_file_says_where_they_listen_while_they_do() {
    let dir = tempfile::tempdir().unwrap();
    let stack = start(dir.path()).await.unwrap();
    let path = stack.folder().engines();
    let engines: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(engines["dynamodb"], stack.dynamodb_url);
    assert_eq!(engines["secretsmanager"], stack.secrets_url);
    assert_eq!(engines["pid"], std::process::id());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    stack.stop().await.unwrap();
    assert!(!path.exists());
}

#[tokio::test]
async fn a_second_stack_on_the_same_folder_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let stack = start(dir.path()).await.unwrap();
    let refused = error(start(dir.path()).await);
    assert!(matches!(&refused, Error::FolderInUse { pid: Some(pid), .. } if *pid == std::process::id()), "{refused}");
    stack.stop().await.unwrap();
    start(dir.path()).await.unwrap().stop().await.unwrap();
}

#[tokio::test]
async fn a_taken_port_leaves_the_folder_without_data() {
    let dir = tempfile::tempdir().unwrap();
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port();
    let refused = error(Stack::start(Options { port, data: dir.path().to_owned() }).await);
    assert!(matches!(refused, Error::PortTaken { .. }), "{refused}");
    assert!(!DataFolder::open(dir.path()).unwrap().holds_data().unwrap());
}

#[tokio::test]
async fn a_broken_data_file_stops_the_start_and_gives_the_folder_back() {
    let dir = tempfile::tempdir().unwrap();
    start(dir.path()).await.unwrap().stop().await.unwrap();
    let whole = fs::read(dir.path().join("dynamodb.db")).unwrap();
    fs::write(dir.path().join("dynamodb.db"), "garbage".repeat(1000)).unwrap();
    let refused = error(start(dir.path()).await);
    assert!(matches!(refused, Error::DataFileBroken { .. }), "{refused}");
    let folder = dir.path().canonicalize().unwrap();
    assert!(refused.to_string().contains(&format!("Move the whole folder {} away", folder.display())), "{refused}");
    fs::write(dir.path().join("dynamodb.db"), whole).unwrap();
    start(dir.path()).await.unwrap().stop().await.unwrap();
}

/// The names in a folder, with the secrets as they are.
fn contents(folder: &Path) -> (BTreeSet<OsString>, Option<String>) {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    (names, fs::read_to_string(folder.join("secrets.json")).ok())
}

/// All items and secrets, as an export has them.
fn data(folder: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    export(folder, &mut lines).unwrap();
    let lines = String::from_utf8(lines).unwrap();
    lines.lines().filter(|line| !line.contains("exported_at") && !line.contains("sha256")).map(str::to_owned).collect()
}

#[tokio::test]
async fn one_of_the_two_files_without_the_other_is_refused_and_nothing_is_made() {
    for (gone, kept) in [("dynamodb.db", "secrets.json"), ("secrets.json", "dynamodb.db")] {
        let dir = tempfile::tempdir().unwrap();
        let first = start(dir.path()).await.unwrap();
        let key = first.checklists.key.clone();
        first.stop().await.unwrap();
        let aside = tempfile::tempdir().unwrap();
        fs::rename(dir.path().join(gone), aside.path().join(gone)).unwrap();
        let before = contents(dir.path());
        for _ in 0..2 {
            let refused = error(start(dir.path()).await).to_string();
            assert!(refused.contains(&format!("not whole: {gone}, ")) && refused.contains(kept), "{refused}");
            assert!(refused.contains("move the whole folder away"), "{refused}");
        }
        assert!(matches!(import(dir.path(), &b""[..]), Err(Error::DataApart { .. })));
        assert!(matches!(export(dir.path(), Vec::new()), Err(Error::DataApart { .. })));
        assert_eq!(contents(dir.path()), before);

        fs::rename(aside.path().join(gone), dir.path().join(gone)).unwrap();
        let again = start(dir.path()).await.unwrap();
        assert_eq!(again.checklists.key, key, "it opens what it opened before");
        again.stop().await.unwrap();
    }
}

#[tokio::test]
async fn tables_and_secrets_of_different_folders_are_refused() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for dir in [&one, &other] {
        start(dir.path()).await.unwrap().stop().await.unwrap();
    }
    fs::copy(one.path().join("secrets.json"), other.path().join("secrets.json")).unwrap();
    let before = data(other.path());
    let refused = error(start(other.path()).await);
    assert!(matches!(&refused, Error::DataApart { missing, .. } if missing.contains("the organisation org")), "{refused}");
    assert_eq!(data(other.path()), before);
}

#[tokio::test]
async fn items_without_their_pepper_and_a_pepper_without_its_items_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    start(dir.path()).await.unwrap().stop().await.unwrap();
    let secrets = fs::read(dir.path().join("secrets.json")).unwrap();
    fs::write(dir.path().join("secrets.json"), r#"{"format":1,"secrets":[]}"#).unwrap();
    let before = data(dir.path());
    let refused = error(start(dir.path()).await);
    assert!(matches!(&refused, Error::DataApart { missing, .. } if missing.starts_with("the secret checklists/pepper")), "{refused}");
    assert_eq!(data(dir.path()), before);

    fs::write(dir.path().join("secrets.json"), secrets).unwrap();
    fs::remove_file(dir.path().join("dynamodb.db")).unwrap();
    let tables = DynamoDb::start(Storage::File(dir.path().join("dynamodb.db")), SWEEP_EVERY).await.unwrap();
    tables.stop().await;
    let before = data(dir.path());
    let refused = error(start(dir.path()).await);
    assert!(matches!(&refused, Error::DataApart { missing, .. } if missing.starts_with("all of the table checklists")), "{refused}");
    assert_eq!(data(dir.path()), before);
}

#[tokio::test]
async fn a_log_without_its_tables_is_not_given_to_new_ones() {
    let dir = tempfile::tempdir().unwrap();
    drop(DataFolder::open(dir.path()).unwrap());
    fs::write(dir.path().join("dynamodb.db-wal"), "changes").unwrap();
    let refused = error(start(dir.path()).await);
    assert!(matches!(&refused, Error::DataApart { missing, .. } if missing.starts_with("dynamodb.db, ")), "{refused}");
}

#[test]
fn a_folder_below_a_file_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    for path in [file.join("data"), file] {
        let refused = error(DataFolder::open(&path));
        assert!(matches!(refused, Error::FolderUnusable { .. }), "{refused}");
    }
}

#[test]
fn a_folder_with_somebodys_files_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("thesis.txt"), "").unwrap();
    let refused = error(DataFolder::open(dir.path()));
    assert!(matches!(refused, Error::FolderForeign { .. }), "{refused}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn somebodys_files_with_names_of_ours_are_left_alone() {
    for name in ["lock", "dynamodb.db", "secrets.json", "ONEPOST.TAG"] {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(name), "somebody's").unwrap();
        let refused = error(DataFolder::open(dir.path()));
        assert!(matches!(refused, Error::FolderForeign { .. }), "{refused}");
        let refused = error(DataFolder::open_existing(dir.path()));
        assert!(matches!(refused, Error::FolderForeign { .. }), "{refused}");
        assert_eq!(fs::read_to_string(dir.path().join(name)).unwrap(), "somebody's");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
    let dir = tempfile::tempdir().unwrap();
    drop(DataFolder::open(dir.path()).unwrap());
    fs::write(dir.path().join("lock"), "somebody's").unwrap();
    error(DataFolder::open(dir.path()));
    assert_eq!(fs::read_to_string(dir.path().join("lock")).unwrap(), "somebody's");
}

#[test]
fn a_folder_is_private_and_outside_of_any_repository() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("data");
    let folder = DataFolder::open(&path).unwrap();
    assert_eq!(fs::read_to_string(path.join(".gitignore")).unwrap(), "*\n");
    assert!(folder.mail().is_dir());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
    }
}
