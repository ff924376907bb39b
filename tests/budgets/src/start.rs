//! What the shipped function opens and whom it connects to, from its start to its first question for an event.

use std::path::Path;

use crate::Failed;
use crate::function::Function;
use crate::ground::Ground;
use crate::report::Row;

/// All rows.
pub async fn rows(function: &Path) -> Result<Vec<Row>, Failed> {
    let trace = std::env::temp_dir().join(format!("budgets-strace-{}", std::process::id()));
    let output = trace.to_str().ok_or("the folder for temporary files has a readable name")?;
    let ground = Ground::new().await?;
    let in_front = ["strace", "-f", "-qq", "-s", "200", "-e", "trace=open,openat,openat2,connect", "-o", output];
    let started = Function::start(&in_front, function, &ground).await?;
    let text = std::fs::read_to_string(&trace)?;
    // The tracer ends with what it traces, and not the other way round.
    let traced = text.split_whitespace().next().ok_or("strace has written nothing")?;
    std::process::Command::new("kill").arg(traced).status()?;
    drop(started);
    std::fs::remove_file(&trace)?;

    let opened: Vec<&str> = text.lines().filter(|line| line.contains("open")).filter_map(|line| line.split('"').nth(1)).collect();
    let connected: Vec<&str> = text.lines().filter(|line| line.contains("connect(") && line.contains("AF_INET")).collect();
    let is_library = |path: &str| path.contains(".so");
    let is_certificate = |path: &str| ["/ssl/", "/pki/", "/certs", "ca-bundle"].iter().any(|part| path.contains(part));
    let is_system = |path: &str| ["/proc/", "/sys/", "/dev/"].iter().any(|part| path.starts_with(part));
    let is_configuration = |path: &str| !is_library(path) && !is_certificate(path) && !is_system(path);
    for path in opened.iter().filter(|path| !is_library(path) && !is_certificate(path)) {
        println!("At start it opens {path}");
    }
    let certificates: std::collections::BTreeSet<&str> =
        opened.iter().filter_map(|path| is_certificate(path).then(|| path.rsplit_once('/'))?).map(|(folder, _)| folder).collect();
    println!("At start it reads certificates in {certificates:?}");
    let count = |is_one: &dyn Fn(&str) -> bool| opened.iter().filter(|path| is_one(path)).count();
    #[expect(clippy::cast_precision_loss, reason = "a start opens some hundred files")]
    let row = |id: &str, what: &str, count: usize| Row::new(format!("start.{id}"), format!("start, {what}"), count as f64);
    Ok(vec![
        row("configuration", "configuration files opened or looked for", count(&is_configuration)).within(0.0),
        row("metadata", "connections to the metadata service", connected.iter().filter(|line| line.contains("169.254")).count())
            .within(0.0),
        row("connections", "connections: Runtime API, table, secrets twice", connected.len()),
        row("system", "files of the system: /proc, /sys, /dev", count(&is_system)),
        row("certificates", "files with root certificates (as this machine keeps them)", count(&is_certificate)).only_told(),
        row("libraries", "shared libraries and their cache", count(&is_library)),
    ])
}
