//! The command line.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use local::Error;
use local::data::create_private;
use local::stack::{Options, Running, Stack};
use local::transfer::{self, Totals};

/// The whole of Onepost in one process on this machine. Without a command: runs it until Ctrl-C.
#[derive(Parser)]
#[command(name = "onepost", version)]
pub struct Cli {
    /// The port on 127.0.0.1; 0 takes any free one
    #[arg(long, value_name = "N", default_value_t = Options::default().port)]
    port: u16,

    /// The folder that keeps everything
    #[arg(long, global = true, value_name = "DIR", default_value_os_t = Options::default().data)]
    data: PathBuf,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Write all data of a stopped stack as lines of JSON, secrets in the clear
    Export(FileArgument),
    /// Read an export into a data folder without data
    Import(FileArgument),
}

#[derive(Args)]
struct FileArgument {
    /// The file; `-` is standard input or output
    #[arg(default_value = "-")]
    file: PathBuf,
}

impl Cli {
    /// Does what the command line says.
    pub fn run(self) -> Result<(), Error> {
        match self.command {
            None => run_stack(Options { port: self.port, data: self.data }),
            Some(Command::Export(argument)) => export(&self.data, &argument.file),
            Some(Command::Import(argument)) => import(&self.data, &argument.file),
        }
    }
}

fn run_stack(options: Options) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|reason| Error::Engine { engine: "The runtime", reason: reason.to_string() })?;
    let outcome = runtime.block_on(async {
        // Before anything starts, so that Ctrl-C at any moment is a clean stop.
        let mut signals = Signals::listen().map_err(Error::Signals)?;
        let running = tokio::select! {
            started = Stack::start(options) => started?,
            // A large file takes a while to check, and whoever asks to stop does not want to wait for that.
            () = signals.next() => {
                say("Stopping.");
                return Ok(());
            }
        };
        greet(&running);
        signals.next().await;
        say("Stopping.");
        tokio::select! {
            stopped = running.stop() => stopped,
            // Whoever asks twice does not want to wait. Every write that was answered is on the disk.
            () = signals.next() => Ok(()),
        }
    });
    // Connections that their clients keep half open hold no one up, and neither does a file that is being checked.
    runtime.shutdown_timeout(Duration::from_secs(1));
    outcome
}

/// What runs and how to call it: everything to be copied stands on a line of its own.
fn greet(running: &Running) {
    let Running { base_url, checklists, .. } = running;
    let (mcp, key, organisation) = (&checklists.mcp, &checklists.key, &checklists.organisation);
    let data = running.folder().path();
    let demo = if checklists.is_first_start { "made just now" } else { "as you left it" };
    say(&format!(
        r#"Onepost runs at {base_url}

Checklists, for the demo organisation Harbour Holidays ({demo})
  endpoint      {mcp}
  key           {key}
  organisation  {organisation}

Connect
  Claude Code
    claude mcp add --transport http checklists {mcp} --header "Authorization: Bearer {key}"
  Codex (the key stays in the environment)
    export CHECKLISTS_KEY={key}; codex mcp add checklists --url {mcp} --bearer-token-env-var CHECKLISTS_KEY
  Inspector
    npx @modelcontextprotocol/inspector --cli {mcp} --transport http --header "Authorization: Bearer {key}" --method tools/list
  curl
    curl {mcp} -H "Authorization: Bearer {key}" -H "Content-Type: application/json" -d '{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"list_assets"}}}}'

Data is in {}, the endpoints in {}. Ctrl-C stops it."#,
        data.display(),
        running.folder().endpoints().display(),
    ));
}

/// To standard output, which may be closed: nobody reads, and nothing is wrong.
fn say(line: &str) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn export(data: &Path, file: &Path) -> Result<(), Error> {
    if file == Path::new("-") {
        let totals = transfer::export(data, BufWriter::new(io::stdout().lock()))?;
        report_export(&totals);
        return Ok(());
    }
    if file.exists() {
        return Err(Error::ExportExists { path: file.to_owned() });
    }
    // Under another name until it is whole: a file with this name is an export to rely on.
    let mut partial = file.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let unusable = |reason| Error::FileUnusable { path: file.to_owned(), reason };
    let _ = std::fs::remove_file(&partial);
    let out = create_private(&partial).map_err(unusable)?;
    let written = transfer::export(data, BufWriter::new(&out)).and_then(|totals| {
        out.sync_all().and_then(|()| std::fs::rename(&partial, file)).map_err(unusable)?;
        Ok(totals)
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&partial);
    }
    report_export(&written?);
    Ok(())
}

fn report_export(totals: &Totals) {
    report("Exported", totals);
    eprintln!("The export holds secrets in the clear: keep it as safe as the data folder.");
}

fn import(data: &Path, file: &Path) -> Result<(), Error> {
    let totals = if file == Path::new("-") {
        if io::stdin().is_terminal() {
            eprintln!("Reading the export from the terminal; to read a file: onepost import FILE");
        }
        transfer::import(data, io::stdin().lock())?
    } else {
        let input = File::open(file).map_err(|reason| Error::FileUnusable { path: file.to_owned(), reason })?;
        transfer::import(data, BufReader::new(input))?
    };
    report("Imported", &totals);
    Ok(())
}

/// To standard error: standard output may be the export itself.
fn report(done: &str, totals: &Totals) {
    let Totals { tables, items, secrets, secret_versions } = totals;
    eprintln!("{done} {tables} tables, {items} items, {secrets} secrets with {secret_versions} versions.");
}

/// What stops the stack.
struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    fn listen() -> io::Result<Signals> {
        Ok(Signals {})
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
