//! The stack within this process, and its data folder.

use std::fs;
use std::path::Path;

use local::Error;
use local::data::DataFolder;
use local::stack::{Options, Running, Stack};

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
    assert!(!DataFolder::open(dir.path()).unwrap().holds_data());
}

#[tokio::test]
async fn a_broken_data_file_stops_the_start_and_gives_the_folder_back() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("dynamodb.db"), "garbage".repeat(1000)).unwrap();
    let refused = error(start(dir.path()).await);
    assert!(matches!(refused, Error::DataFileBroken { .. }), "{refused}");
    fs::remove_file(dir.path().join("dynamodb.db")).unwrap();
    start(dir.path()).await.unwrap().stop().await.unwrap();
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
