//! The local stack's port: what a client sends over plain HTTP gets the answer that it gets through a Lambda function. The
//! situations are those of the Lambda shell's tests.

#[path = "../../shared/cloud/tests/it/situations.rs"]
mod situations;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use local::front::{Front, Mount, Routes};
use situations::{Library, Situation, Told, directly};

/// What only the transport knows.
const OF_THE_TRANSPORT: [&str; 3] = ["connection", "content-length", "date"];

/// Sends a situation under this prefix byte for byte, on a connection of its own.
fn exchanged(address: &str, prefix: &str, situation: &Situation) -> Told {
    let target = format!("{prefix}{}?{}", situation.path, situation.query);
    let mut bytes = format!("{} {} HTTP/1.1\r\nHost: {address}\r\n", situation.method, target.trim_end_matches('?'));
    for (name, value) in &situation.headers {
        bytes += &format!("{name}: {value}\r\n");
    }
    bytes += &format!("Content-Length: {}\r\nConnection: close\r\n\r\n", situation.body.len());
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(bytes.as_bytes()).unwrap();
    stream.write_all(&situation.body).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();

    let head_ends = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let body = answer.split_off(head_ends + 4);
    let head = String::from_utf8(answer).unwrap();
    let mut lines = head.trim_end().split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers = lines.map(|line| line.split_once(": ").unwrap()).filter(|(name, _)| !OF_THE_TRANSPORT.contains(name));
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Told { status, headers, body: body.into() }
}

/// D41: status, headers and the body to the byte.
#[tokio::test]
async fn plain_http_tells_the_same() {
    let (library, situations) = Library::open();
    let library = Arc::new(library);
    let front = Front::bind(0).unwrap();
    let address = front.base_url().strip_prefix("http://").unwrap().to_owned();
    let mount = Mount { prefix: "/library".into(), about: "library".into(), paths: vec![], endpoint: library.clone() };
    tokio::spawn(front.serve(Routes::default().mount(mount), std::future::pending()));
    for situation in situations {
        let direct = directly(&library, &situation).await;
        assert_eq!(direct.ends(), situation.ends, "{}", situation.what);
        let (what, address) = (situation.what, address.clone());
        let told = tokio::task::spawn_blocking(move || exchanged(&address, "/library", &situation)).await.unwrap();
        assert_eq!(told, direct, "{what}");
    }
}
