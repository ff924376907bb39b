//! The program as people start and end it.

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::clients::{self, has, make_table, put};

fn onepost(data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_onepost"));
    command.arg("--data").arg(data).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command.env_remove("RUST_LOG").env("RUST_BACKTRACE", "1");
    command
}

/// A stack that has said that it runs.
async fn running(data: &Path) -> (Child, String) {
    let mut child = onepost(data).args(["--port", "0"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = tokio::time::timeout(Duration::from_secs(20), lines.next_line()).await.expect("it starts").unwrap();
    let url = line.unwrap().strip_prefix("Onepost runs at ").unwrap().to_owned();
    // Its output stays open for as long as it writes.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (child, url)
}

fn dynamodb_of(data: &Path) -> aws_sdk_dynamodb::Client {
    let engines: serde_json::Value = serde_json::from_slice(&fs::read(data.join("engines.json")).unwrap()).unwrap();
    clients::dynamodb(engines["dynamodb"].as_str().unwrap())
}

async fn ended(mut child: Child) -> (Option<i32>, String) {
    let status = tokio::time::timeout(Duration::from_secs(20), child.wait()).await.expect("it ends").unwrap();
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).await.unwrap();
    (status.code(), stderr)
}

async fn output(command: &mut Command) -> Output {
    tokio::time::timeout(Duration::from_secs(20), command.output()).await.expect("it ends").unwrap()
}

/// Checks that it failed with code 1 and one line, and gives the line.
async fn refusal(command: &mut Command) -> String {
    let output = output(command).await;
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    stderr
}

#[cfg(unix)]
async fn signal(child: &Child, name: &str) {
    let pid = child.id().unwrap().to_string();
    let status = Command::new("sh").args(["-c", "kill -s \"$0\" \"$1\"", name, &pid]).status().await.unwrap();
    assert!(status.success());
}

#[tokio::test]
async fn what_was_answered_is_there_after_kill_9() {
    let dir = tempfile::tempdir().unwrap();
    let (mut child, _) = running(dir.path()).await;
    let client = dynamodb_of(dir.path());
    make_table(&client, "things").await;
    for n in 0..20 {
        put(&client, "things", &n.to_string()).await;
    }
    child.kill().await.unwrap();

    let (child, _) = running(dir.path()).await;
    let client = dynamodb_of(dir.path());
    for n in 0..20 {
        assert!(has(&client, "things", &n.to_string()).await, "{n}");
    }
    drop(child);
}

/// Whether the demo organisation's key that the folder names opens what runs.
async fn key_opens(data: &Path) -> bool {
    let endpoints: serde_json::Value = serde_json::from_slice(&fs::read(data.join("endpoints.json")).unwrap()).unwrap();
    let [mcp, key] = ["mcp", "key"].map(|name| endpoints["checklists"][name].as_str().unwrap().to_owned());
    let call = serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "list_assets" } });
    let answer = reqwest::Client::new().post(mcp).bearer_auth(key).json(&call).send().await.unwrap();
    answer.status() == 200 && answer.text().await.unwrap().contains("Seagull Flat")
}

#[tokio::test]
async fn a_first_start_that_is_killed_at_whatever_moment_is_followed_by_one_that_works() {
    let moments = [
        "ONEPOST.TAG",
        "lock",
        "new.partial",
        "new.partial/secrets.json",
        "new.partial/dynamodb.db.new",
        "new.partial/dynamodb.db",
        "new.partial/dynamodb.db-wal",
        "dynamodb.db",
        "secrets.json",
        "engines.json",
        "endpoints.json",
    ];
    for moment in moments {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        let mut child = onepost(&data).args(["--port", "0"]).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        // Some of these pass quickly: the end of the start is as good a moment.
        while !data.join(moment).exists() && !data.join("endpoints.json").exists() {
            assert!(Instant::now() < deadline, "{moment}");
            tokio::task::yield_now().await;
        }
        child.kill().await.unwrap();

        let (child, _) = running(&data).await;
        assert!(key_opens(&data).await, "{moment}");
        assert!(!data.join("new.partial").exists() && !data.join("new.ready").exists(), "{moment}");
        drop(child);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn ctrl_c_is_heard_while_files_are_read_and_checked() {
    let dir = tempfile::tempdir().unwrap();
    let (mut child, _) = running(dir.path()).await;
    child.kill().await.unwrap();
    // Whoever reads it waits for somebody who writes, and nobody does.
    let endless = dir.path().join("secrets.json");
    fs::remove_file(&endless).unwrap();
    assert!(Command::new("mkfifo").arg(&endless).status().await.unwrap().success());

    let child = onepost(dir.path()).args(["--port", "0"]).spawn().unwrap();
    let pid = child.id().unwrap().to_string();
    clients::eventually("the start", || async { fs::read_to_string(dir.path().join("lock")).is_ok_and(|text| text == pid) }).await;
    signal(&child, "INT").await;
    let (code, stderr) = ended(child).await;
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}

#[cfg(unix)]
#[tokio::test]
async fn ctrl_c_and_sigterm_end_it_cleanly_with_code_0() {
    for name in ["INT", "TERM"] {
        let dir = tempfile::tempdir().unwrap();
        let (child, url) = running(dir.path()).await;
        // Connections that clients keep open hold it up no longer than others.
        let client = dynamodb_of(dir.path());
        make_table(&client, "things").await;
        let idle = tokio::net::TcpStream::connect(url.strip_prefix("http://").unwrap()).await.unwrap();
        signal(&child, name).await;
        let (code, stderr) = ended(child).await;
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{name}");
        drop(idle);
        let mut left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        assert_eq!(left, [".gitignore", "ONEPOST.TAG", "dynamodb.db", "endpoints.json", "lock", "mail", "secrets.json"], "{name}");
    }
}

#[tokio::test]
async fn each_thing_in_its_way_is_one_line_and_code_1() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let (child, url) = running(&data).await;

    let told = refusal(onepost(&data).args(["--port", "0"])).await;
    assert!(told.contains("is in use by a running stack (process "), "{told}");
    assert!(told.contains(&format!("process {}", child.id().unwrap())), "{told}");
    for command in ["export", "import"] {
        let told = refusal(onepost(&data).arg(command)).await;
        assert!(told.contains("is in use by a running stack"), "{told}");
    }

    let port = url.rsplit(':').next().unwrap();
    let told = refusal(onepost(&dir.path().join("other")).args(["--port", port])).await;
    assert!(told.contains(&format!("Port {port} on 127.0.0.1 is taken")), "{told}");

    fs::write(dir.path().join("file"), "").unwrap();
    let told = refusal(onepost(&dir.path().join("file/data")).args(["--port", "0"])).await;
    assert!(told.contains("cannot be used"), "{told}");

    drop(child);
    let broken = dir.path().join("broken");
    let (mut child, _) = running(&broken).await;
    child.kill().await.unwrap();
    fs::write(broken.join("dynamodb.db"), "garbage".repeat(1000)).unwrap();
    let told = refusal(onepost(&broken).args(["--port", "0"])).await;
    assert!(told.contains("is broken: it is not a SQLite database"), "{told}");

    fs::remove_file(broken.join("dynamodb.db")).unwrap();
    for command in [&["--port", "0"][..], &["export"], &["import"]] {
        let told = refusal(onepost(&broken).args(command)).await;
        assert!(told.contains("is not whole: dynamodb.db"), "{told}");
    }
}

#[tokio::test]
async fn an_export_to_a_file_is_private_and_replaces_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (from, to, file) = (dir.path().join("from"), dir.path().join("to"), dir.path().join("all.jsonl"));
    let (child, _) = running(&from).await;
    make_table(&dynamodb_of(&from), "things").await;
    put(&dynamodb_of(&from), "things", "a").await;
    drop(child);
    // The dropped child is killed, and its lock is free once it is gone.
    clients::eventually("the export", || async { output(onepost(&from).arg("export").arg(&file)).await.status.success() }).await;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let told = refusal(onepost(&from).arg("export").arg(&file)).await;
    assert!(told.contains("exists already"), "{told}");

    let piped = output(onepost(&from).args(["export", "-"])).await;
    assert!(piped.status.success());
    assert!(String::from_utf8_lossy(&piped.stderr).contains("holds secrets in the clear"));
    let (header, items) = std::str::from_utf8(&piped.stdout).unwrap().split_once('\n').unwrap();
    assert!(header.contains("onepost_export"), "{header}");
    assert!(items.contains(r#""table":"things""#), "{items}");

    let imported = output(onepost(&to).stdin(fs::File::open(&file).unwrap()).arg("import")).await;
    assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
    let (child, _) = running(&to).await;
    assert!(has(&dynamodb_of(&to), "things", "a").await);
    drop(child);
}

#[tokio::test]
async fn a_log_that_nobody_reads_any_more_takes_no_answer_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let (mut child, url) = running(dir.path()).await;
    drop(child.stderr.take());
    for _ in 0..3 {
        let answer = reqwest::Client::new().post(format!("{url}/checklists/mcp")).send().await.unwrap();
        assert_eq!(answer.status(), 401, "a call that is logged");
    }
    child.kill().await.unwrap();
}
