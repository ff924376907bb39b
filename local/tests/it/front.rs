//! The HTTP front, also with clients that misbehave.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use bytes::Bytes;
use local::Error;
use local::front::{Front, Limits, Mount, Routes};
use onepost_core::http::{Endpoint, Request, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use crate::clients::eventually;

/// Says what it was asked; waits, or panics, where the path says so.
#[derive(Default)]
struct Echo {
    seen: Mutex<Vec<String>>,
    done: Mutex<usize>,
    go_on: Notify,
}

impl Endpoint for Echo {
    fn answer(&self, request: Request) -> Pin<Box<dyn Future<Output = Response> + Send + '_>> {
        Box::pin(async move {
            let path = request.uri().to_string();
            self.seen.lock().unwrap().push(path.clone());
            match path.as_str() {
                "/wait" => self.go_on.notified().await,
                "/panic" => panic!("as the test asked"),
                _ => {}
            }
            *self.done.lock().unwrap() += 1;
            let header = request.headers().get("x-one").map_or("", |value| value.to_str().unwrap());
            let line = format!("{} {path} [{header}] {}", request.method(), request.body().len());
            http::Response::builder().status(207).header("x-two", "2").body(Bytes::from(line)).unwrap()
        })
    }
}

struct Running {
    url: String,
    address: String,
    echo: Arc<Echo>,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Running {
    fn start(limits: Limits) -> Running {
        let front = Front::bind(0).unwrap().with_limits(limits);
        let url = front.base_url().to_owned();
        let echo = Arc::new(Echo::default());
        let routes = Routes::default().mount(Mount {
            prefix: "/echo".into(),
            about: "Echo".into(),
            paths: vec!["/mcp".into()],
            endpoint: echo.clone(),
        });
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(front.serve(routes, async move {
            let _ = stopped.await;
        }));
        let address = url.strip_prefix("http://").unwrap().to_owned();
        Running { url, address, echo, stop: Some(stop), task }
    }

    fn calls(&self) -> usize {
        self.echo.seen.lock().unwrap().len()
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).await.unwrap()
    }
}

/// All that comes until the server closes, within a bound.
async fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut bytes)).await.expect("the server closes").unwrap();
    String::from_utf8(bytes).unwrap()
}

fn error_of(answer: &str) -> serde_json::Value {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap()
}

#[tokio::test]
async fn an_endpoint_gets_the_request_whole_and_without_its_prefix() {
    let front = Running::start(Limits::default());
    let client = reqwest::Client::new();
    let answer =
        client.post(format!("{}/echo/mcp?a=%20b&c", front.url)).header("x-one", "1").body("x".repeat(1_000_000)).send().await.unwrap();
    assert_eq!(answer.status(), 207);
    assert_eq!(answer.headers()["x-two"], "2");
    assert_eq!(answer.text().await.unwrap(), "POST /mcp?a=%20b&c [1] 1000000");
}

#[tokio::test]
async fn odd_methods_reach_the_endpoint_and_head_has_no_body() {
    let front = Running::start(Limits::default());
    let client = reqwest::Client::new();
    for method in ["OPTIONS", "DELETE", "PROPFIND", "TRACE"] {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let answer = client.request(method.clone(), format!("{}/echo/x", front.url)).send().await.unwrap();
        assert_eq!(answer.text().await.unwrap(), format!("{method} /x [] 0"));
    }
    let answer = client.head(format!("{}/echo/x", front.url)).send().await.unwrap();
    assert_eq!(answer.status(), 207);
    assert_eq!(answer.text().await.unwrap(), "");
    assert_eq!(front.calls(), 5);
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let front = Running::start(Limits::default());
    let mut stream = front.connect().await;
    for _ in 0..2 {
        stream.write_all(b"GET /echo/x HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"GET /x [] 0") {
            assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0);
        }
    }
}

#[tokio::test]
async fn the_root_says_what_is_served() {
    let front = Running::start(Limits::default());
    let answer = reqwest::get(format!("{}/", front.url)).await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "text/plain; charset=utf-8");
    let page = answer.text().await.unwrap();
    assert!(page.contains(&format!("{}/echo/mcp", front.url)), "{page}");
    let answer = reqwest::Client::new().post(format!("{}/", front.url)).send().await.unwrap();
    assert_eq!(answer.status(), 405);
    assert_eq!(answer.headers()["allow"], "GET, HEAD");
}

#[tokio::test]
async fn an_unknown_path_is_told_what_is_served() {
    let front = Running::start(Limits::default());
    for path in ["/nothing", "/echoes/mcp", "/favicon.ico"] {
        let answer = reqwest::get(format!("{}{path}", front.url)).await.unwrap();
        assert_eq!(answer.status(), 404);
        let body: serde_json::Value = answer.json().await.unwrap();
        assert_eq!(body["served"], serde_json::json!([format!("{}/echo/mcp", front.url)]));
    }
    assert_eq!(front.calls(), 0);
}

#[tokio::test]
async fn a_body_over_the_limit_is_answered_although_the_client_sends_all_of_it_first() {
    let front = Running::start(Limits::default());
    let body = vec![b'x'; 20 * 1024 * 1024];
    let answer = reqwest::Client::new().post(format!("{}/echo/mcp", front.url)).body(body).send().await.unwrap();
    assert_eq!(answer.status(), 413);
    let error: serde_json::Value = answer.json().await.unwrap();
    assert_eq!(error["jsonrpc"], "2.0");
    assert_eq!(error["id"], serde_json::Value::Null);
    assert_eq!(error["error"]["code"], -32600);
    assert_eq!(front.calls(), 0);
}

/// A client that writes before it reads is not cut off while it writes.
#[tokio::test]
async fn a_body_that_nobody_wants_is_read_all_the_same() {
    let running = Running::start(Limits::default());
    for path in ["/nothing/here", "/"] {
        let client = reqwest::Client::new();
        let answer = client.post(format!("{}{path}", running.url)).body(vec![b'x'; 3_000_000]).send().await.unwrap();
        assert!(matches!(answer.status().as_u16(), 404 | 405), "{path}: {}", answer.status());
    }
    assert_eq!(running.calls(), 0);
}

#[tokio::test]
async fn a_body_that_announces_more_than_the_limit_is_refused_before_it_is_sent() {
    let front = Running::start(Limits::default());
    for expect in ["", "Expect: 100-continue\r\n"] {
        let mut stream = front.connect().await;
        let head = format!("POST /echo/mcp HTTP/1.1\r\nHost: x\r\n{expect}Content-Length: 99999999999\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 413");
    }
    assert_eq!(front.calls(), 0);
}

#[tokio::test]
async fn a_chunked_body_over_the_limit_is_refused_where_it_passes_it() {
    let front = Running::start(Limits { body_bytes: 1000, ..Limits::default() });
    let mut stream = front.connect().await;
    stream.write_all(b"POST /echo/mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n").await.unwrap();
    for _ in 0..2 {
        stream.write_all(format!("258\r\n{}\r\n", "x".repeat(600)).as_bytes()).await.unwrap();
    }
    stream.write_all(b"0\r\n\r\n").await.unwrap();
    assert!(rest(&mut stream).await.starts_with("HTTP/1.1 413"));
    assert_eq!(front.calls(), 0);
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_taken() {
    let front = Running::start(Limits { body_bytes: 1000, ..Limits::default() });
    let answer = reqwest::Client::new().post(format!("{}/echo/mcp", front.url)).body("x".repeat(1000)).send().await.unwrap();
    assert_eq!(answer.text().await.unwrap(), "POST /mcp [] 1000");
}

#[tokio::test]
async fn a_cut_body_never_reaches_the_endpoint() {
    let front = Running::start(Limits::default());
    for head in ["Content-Length: 100\r\n\r\n{\"half\":", "Transfer-Encoding: chunked\r\n\r\n64\r\n{\"half\":"] {
        let mut stream = front.connect().await;
        let request = format!("POST /echo/mcp HTTP/1.1\r\nHost: x\r\n{head}");
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let answer = rest(&mut stream).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{answer}");
    }
    // The next one does: it is the first that the endpoint sees.
    reqwest::get(format!("{}/echo/next", front.url)).await.unwrap();
    assert_eq!(*front.echo.seen.lock().unwrap(), ["/next"]);
}

#[tokio::test]
async fn a_slow_body_is_given_up() {
    let front = Running::start(Limits { body_time: Duration::from_millis(50), ..Limits::default() });
    let mut stream = front.connect().await;
    stream.write_all(b"POST /echo/mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"half\":").await.unwrap();
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert_eq!(error_of(&answer)["error"]["code"], -32600);
    assert_eq!(front.calls(), 0);
}

#[tokio::test]
async fn half_a_head_holds_a_connection_for_its_time_and_no_longer() {
    let front = Running::start(Limits { head_time: Duration::from_millis(50), ..Limits::default() });
    let before = Instant::now();
    for sent in ["", "GET /echo/x HTTP/1.1\r\nHost: x\r\n"] {
        let mut stream = front.connect().await;
        stream.write_all(sent.as_bytes()).await.unwrap();
        assert_eq!(rest(&mut stream).await, "", "{sent}");
    }
    assert!(before.elapsed() >= Duration::from_millis(100));

    // A connection that has been answered has its time once more.
    let mut stream = front.connect().await;
    stream.write_all(b"GET /echo/x HTTP/1.1\r\nHost: x\r\n\r\nGET /ec").await.unwrap();
    assert!(rest(&mut stream).await.ends_with("GET /x [] 0"));
    assert_eq!(front.calls(), 1);
}

#[tokio::test]
async fn a_call_may_take_longer_than_a_head() {
    let front = Running::start(Limits { head_time: Duration::from_millis(20), ..Limits::default() });
    let url = format!("{}/echo/wait", front.url);
    let call = tokio::spawn(async move { reqwest::get(url).await.unwrap().text().await.unwrap() });
    eventually("the call", || async { front.calls() == 1 }).await;
    let mut idle = front.connect().await;
    rest(&mut idle).await;
    front.echo.go_on.notify_one();
    assert_eq!(call.await.unwrap(), "GET /wait [] 0");
}

#[tokio::test]
async fn large_headers_are_refused() {
    let front = Running::start(Limits::default());
    let client = reqwest::Client::new();
    for size in [33 * 1024, 600 * 1024] {
        let answer = client.get(format!("{}/echo/x", front.url)).header("x-one", "x".repeat(size)).send().await.unwrap();
        assert_eq!(answer.status(), 431);
    }
    assert_eq!(front.calls(), 0);
}

#[tokio::test]
async fn a_panic_in_an_endpoint_is_an_answer() {
    let front = Running::start(Limits::default());
    let answer = reqwest::get(format!("{}/echo/panic", front.url)).await.unwrap();
    assert_eq!(answer.status(), 500);
    let error: serde_json::Value = answer.json().await.unwrap();
    assert_eq!(error["error"]["code"], -32603);
    assert_eq!(reqwest::get(format!("{}/echo/x", front.url)).await.unwrap().status(), 207);
}

#[tokio::test]
async fn a_call_is_finished_although_its_client_has_gone() {
    let front = Running::start(Limits::default());
    let mut stream = front.connect().await;
    stream.write_all(b"GET /echo/wait HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    eventually("the call", || async { front.calls() == 1 }).await;
    drop(stream);
    // By the time another connection is served, the first one's end has been seen.
    reqwest::get(format!("{}/echo/x", front.url)).await.unwrap();
    front.echo.go_on.notify_one();
    eventually("its end", || async { *front.echo.done.lock().unwrap() == 2 }).await;
}

#[tokio::test]
async fn stopping_finishes_the_requests_that_run_and_takes_no_more() {
    let mut front = Running::start(Limits::default());
    let url = format!("{}/echo/wait", front.url);
    let call = tokio::spawn(async move { reqwest::get(url).await.unwrap().text().await.unwrap() });
    let mut idle = front.connect().await;
    eventually("the call", || async { front.calls() == 1 }).await;
    drop(front.stop.take());
    assert_eq!(rest(&mut idle).await, "", "idle connections are closed");
    eventually("no more connections", || async { TcpStream::connect(&front.address).await.is_err() }).await;
    assert!(!front.task.is_finished());
    front.echo.go_on.notify_one();
    assert_eq!(call.await.unwrap(), "GET /wait [] 0");
    tokio::time::timeout(Duration::from_secs(20), &mut front.task).await.expect("it stops").unwrap();
}

#[tokio::test]
async fn stopping_waits_for_its_bound_and_no_longer() {
    let mut front = Running::start(Limits { stop_within: Duration::from_millis(50), ..Limits::default() });
    let url = format!("{}/echo/wait", front.url);
    let call = tokio::spawn(async move {
        let answer = reqwest::get(url).await.unwrap();
        (answer.status().as_u16(), answer.json::<serde_json::Value>().await.unwrap())
    });
    let mut half = front.connect().await;
    half.write_all(b"POST /echo/mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx").await.unwrap();
    eventually("the call", || async { front.calls() == 1 }).await;
    let before = Instant::now();
    drop(front.stop.take());
    tokio::time::timeout(Duration::from_secs(20), &mut front.task).await.expect("it stops").unwrap();
    assert!(before.elapsed() >= Duration::from_millis(50));
    let (status, error) = call.await.unwrap();
    assert_eq!(status, 503, "the caller is told");
    assert_eq!(error["error"]["message"], "The server is stopping.");
}

#[tokio::test]
async fn a_taken_port_is_told_before_anything_is_served() {
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port();
    let error = Front::bind(port).unwrap_err();
    assert!(matches!(error, Error::PortTaken { port: told } if told == port));
    assert!(error.to_string().contains(&format!("Port {port} on 127.0.0.1 is taken")));
}
