//! Instructions, counted by callgrind: work is done N times and 2N times, and what is subtracted is the start.

use std::collections::HashMap;
use std::io::{ErrorKind, Read};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::Failed;
use crate::report::Row;

/// How often a call is made: N.
const CALLS: u32 = 100;

/// How often each count is taken; the one in the middle counts. Hash maps are seeded at random, which moves where memory
/// is had from and so what having it takes, for the life of a process.
const COUNTS: usize = 3;

/// Names of functions that are cryptography. Valgrind hides the machine's own instructions for it, so that its count says
/// little about a real machine, and differs with what the host's processor has.
const CRYPTO: [&str; 10] =
    ["ring_core", "ring::", "sha2::", "sha256", "hmac::", "digest::", "block_buffer::", "crypto_common::", "aws_lc", "subtle::"];

/// What one run of the driver took.
#[derive(Debug, Clone, Copy)]
struct Taken {
    all: f64,
    crypto: f64,
}

impl Taken {
    fn less(self, other: Self) -> Self {
        Self { all: self.all - other.all, crypto: self.crypto - other.crypto }
    }
}

/// All rows.
pub fn rows(driver: &Path) -> Result<Vec<Row>, Failed> {
    let call = |case: &str| -> Result<Taken, Failed> {
        let times = |count: u32| run(driver, &["calls", case, &count.to_string()]);
        let mut counts = Vec::new();
        for _ in 0..COUNTS {
            let (once, twice) = std::thread::scope(|scope| {
                let twice = scope.spawn(|| times(2 * CALLS));
                (times(CALLS), twice.join())
            });
            let twice = twice.map_err(|_| "a count was given up")?;
            counts.push(twice?.less(once?));
        }
        counts.sort_by(|one, other| (one.all - one.crypto).total_cmp(&(other.all - other.crypto)));
        let each = |sum: f64| (sum / f64::from(CALLS)).round();
        let Taken { all, crypto } = counts[COUNTS / 2];
        Ok(Taken { all: each(all), crypto: each(crypto) })
    };
    let mut rows = Vec::new();
    let mut held = |id: &str, what: &str, budget: Option<f64>| -> Result<(), Failed> {
        let Taken { all, crypto } = call(id)?;
        let row = Row::new(format!("instructions.{id}"), format!("instructions, {what}"), all - crypto);
        rows.push(match budget {
            Some(budget) => row.within(budget),
            // The SDK's part is told to explain the rows above it, which are held.
            None if id.starts_with("sdk_") => row.only_told(),
            None => row,
        });
        rows.push(Row::new(format!("crypto.{id}"), "    and of cryptography", crypto).only_told());
        Ok(())
    };
    held("endpoint", "protocol, key, validation and log (a tool without a table)", Some(60_000.0))?;
    held("shell", "the same through the Lambda shell, event to reply", None)?;
    held("tools_list", "tools/list", None)?;
    held("get_asset", "get_asset", None)?;
    held("sdk_read", "    of which the AWS SDK alone: a GetItem", None)?;
    held("create_asset", "create_asset", None)?;
    held("sdk_write", "    of which the AWS SDK alone: a TransactWriteItems", None)?;

    let nothing = run(driver, &["nothing"])?;
    let random = run(driver, &["random"])?.less(nothing);
    rows.push(Row::new("instructions.first_random", "instructions, first 32 random bytes", random.all).within(1_000_000.0).only_told());
    let built = run(driver, &["greet"])?;
    let certificates = "instructions, an AWS client built (reads this machine's root certificates)";
    rows.push(Row::new("instructions.client", certificates, built.less(nothing).all).only_told());
    let greeted = run(driver, &["greet", &whoever_hangs_up()?])?.less(built);
    rows.push(Row::new("instructions.first_greeting", "instructions, an AWS client's first TLS greeting", greeted.all).within(3_000_000.0));
    Ok(rows)
}

/// The URL of somebody who hangs up once they are greeted.
fn whoever_hangs_up() -> Result<String, Failed> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("https://127.0.0.1:{}", listener.local_addr()?.port());
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let greeted = connection.and_then(|mut connection| connection.read(&mut [0; 4096]));
            if greeted.is_err_and(|error| error.kind() != ErrorKind::ConnectionReset) {
                return;
            }
        }
    });
    Ok(url)
}

/// Runs the driver and adds up what its functions took themselves.
fn run(driver: &Path, arguments: &[&str]) -> Result<Taken, Failed> {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let number = RUNS.fetch_add(1, Ordering::Relaxed);
    let counts = std::env::temp_dir().join(format!("budgets-callgrind-{}-{number}", std::process::id()));
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--compress-strings=no", "--compress-pos=no"])
        .arg(format!("--callgrind-out-file={}", counts.display()))
        .arg(driver)
        .args(arguments)
        .env("AWS_LAMBDA_FUNCTION_NAME", "budgets")
        .envs([("AWS_REGION", "eu-central-1"), ("AWS_ACCESS_KEY_ID", "measured"), ("AWS_SECRET_ACCESS_KEY", "measured")])
        .stdout(Stdio::null())
        .output()?;
    if !output.status.success() {
        return Err(format!("the driver failed under callgrind: {arguments:?}\n{}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let text = std::fs::read_to_string(&counts)?;
    std::fs::remove_file(&counts)?;
    let of_functions = by_function(&text);
    let all: f64 = of_functions.values().sum();
    if !of_functions.keys().any(|name| name.contains("::")) {
        return Err("the driver has no symbols: build it with `-C strip=none`, as tests/budgets/run does".into());
    }
    // At the beginning of a word: `string::` is no `ring::`.
    let begins = |name: &str, at: usize| !name[..at].ends_with(|before: char| before.is_ascii_alphanumeric());
    let is_crypto = |name: &str| CRYPTO.iter().any(|part| name.match_indices(part).any(|(at, _)| begins(name, at)));
    let crypto = of_functions.iter().filter(|(name, _)| is_crypto(name)).map(|(_, count)| count).sum();
    Ok(Taken { all, crypto })
}

/// What each function took without those it called.
fn by_function(callgrind: &str) -> HashMap<&str, f64> {
    let (mut of_functions, mut function, mut is_of_a_call) = (HashMap::new(), "", false);
    for line in callgrind.lines() {
        if let Some(name) = line.strip_prefix("fn=") {
            function = name;
        } else if line.starts_with("calls=") {
            // The next line is what the called function took, with all that it called.
            is_of_a_call = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit()) {
            let count = line.rsplit(' ').next().and_then(|count| count.parse::<f64>().ok()).unwrap_or(0.0);
            if !std::mem::take(&mut is_of_a_call) {
                *of_functions.entry(function).or_insert(0.0) += count;
            }
        }
    }
    of_functions
}

#[cfg(test)]
mod tests {
    use super::by_function;

    #[test]
    fn what_was_called_is_counted_where_it_was_done() {
        let text = "events: Ir\n\nfn=outer\n1 10\n2 5\ncfn=inner\ncalls=3 7\n2 900\n3 1\n\nfn=inner\n7 900\n";
        let counts = by_function(text);
        assert_eq!((counts["outer"], counts["inner"]), (16.0, 900.0));
    }
}
