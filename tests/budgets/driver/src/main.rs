//! What is measured under an instrument. `tests/budgets/run` starts this, under callgrind, with one of
//!
//! - `nothing`: the process that others are compared with;
//! - `random`: the first 32 random bytes;
//! - `greet [https URL]`: an AWS client as the functions build it, and its first TLS greeting where a URL is named;
//! - `calls <case> <how often>`: calls through the Lambda shell, an event's bytes in and the reply's bytes out;
//! - `zip <file>`: how many bytes a zip with this file weighs.

mod calls;
mod stub;

use std::io::Write;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::AttributeValue;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use onepost_cloud::aws;
use ring::rand::{SecureRandom, SystemRandom};

/// What a zip adds to its one deflated file: local header, entry in the directory, end of the directory, and the name
/// twice.
const ZIP_FRAME: usize = 30 + 46 + 22 + 2 * "bootstrap".len();

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["nothing"] => {}
        ["random"] => {
            let mut bytes = [0_u8; 32];
            SystemRandom::new().fill(&mut bytes).map_err(|_| "the operating system hands out no random bytes")?;
            std::hint::black_box(bytes);
        }
        ["greet", url @ ..] => greet(url.first().copied()).await?,
        ["calls", case, count] => calls::run(case, count.parse()?).await?,
        ["zip", file] => println!("{}", zipped(&std::fs::read(file)?)?),
        other => return Err(format!("the driver does not know {other:?}").into()),
    }
    Ok(())
}

/// Builds the client, and asks for an item where there is somebody to ask. The other side hangs up once it has been
/// greeted, so that the handshake's first half is all there is.
async fn greet(url: Option<&str>) -> Result<(), Box<dyn std::error::Error>> {
    let config = aws::Environment::read()?.dynamodb();
    let builder = config.to_builder().endpoint_url(url.unwrap_or("https://127.0.0.1:1"));
    let client = Client::new(&builder.build());
    if url.is_some() {
        let asked = client.get_item().table_name("none").key("pk", AttributeValue::S("none".into())).send().await;
        if asked.is_ok() {
            return Err("nobody was to answer".into());
        }
    }
    std::hint::black_box(client);
    Ok(())
}

fn zipped(file: &[u8]) -> std::io::Result<usize> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(file)?;
    Ok(encoder.finish()?.len() + ZIP_FRAME)
}
