//! Listening on this machine alone, serving there with bounds, and telling programs from pages.

mod connection;

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use axum::Router;
use axum::middleware;
use http::{HeaderMap, header};
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use connection::{Patient, Turn};

/// How long a connection may go without a whole request head: longer than the clients that we know keep an idle
/// connection, so that none is closed under them.
pub(crate) const HEAD_TIME: Duration = Duration::from_secs(120);

/// Listens on 127.0.0.1. Port 0 takes any free one.
pub(crate) fn listen(port: u16) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    // As the standard library does: a port whose last connections linger in TIME_WAIT can be taken again.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    // Connections inherit it.
    socket.set_nodelay(true)?;
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    socket.listen(1024)
}

/// `http://127.0.0.1:<port>`, without a slash at the end.
pub(crate) fn url(listener: &TcpListener) -> io::Result<String> {
    Ok(format!("http://{}", listener.local_addr()?))
}

/// Serves until `shutdown` resolves, then finishes the requests that run. A connection that brings no whole request head
/// within `head_time`, from its start or from its last answer, is closed: half a head must not hold one for ever.
pub(crate) async fn serve(listener: TcpListener, router: Router, head_time: Duration, shutdown: impl Future<Output = ()> + Send + 'static) {
    let router = router.layer(middleware::from_fn(connection::take_turn)).into_make_service_with_connect_info::<Turn>();
    // It ends with the shutdown and never fails.
    let _ = axum::serve(Patient::new(listener, head_time), router).with_graceful_shutdown(shutdown).await;
}

/// Whether a page in somebody's browser may be behind a request. A page that calls across origins says its origin, and
/// one that has pointed a name of its own at this machine says that name; no program does either.
pub(crate) fn may_come_from_a_page(headers: &HeaderMap) -> bool {
    headers.contains_key(header::ORIGIN) || !names_loopback(headers)
}

fn names_loopback(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    name == "127.0.0.1" || name.eq_ignore_ascii_case("localhost")
}

/// A server in a task of its own. Dropped, it begins to stop as if it had been told to.
#[derive(Debug)]
pub(crate) struct Served {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Served {
    /// Starts what `serve` makes; the future it is given resolves when the server is to stop.
    pub(crate) fn start<F>(serve: impl FnOnce(Stopping) -> F) -> Served
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (stop, stopping) = oneshot::channel();
        Served { stop, task: tokio::spawn(serve(Stopping(stopping))) }
    }

    /// Tells the server to stop and waits until it has, at most `within`: a client that has sent half a request must
    /// not hold the whole stack.
    pub(crate) async fn stop(self, within: Duration) {
        drop(self.stop);
        let mut task = self.task;
        if tokio::time::timeout(within, &mut task).await.is_err() {
            task.abort();
        }
    }
}

/// Tells a server when to stop.
pub(crate) struct Stopping(oneshot::Receiver<()>);

impl Stopping {
    pub(crate) async fn wait(self) {
        // An error is the sender gone, which means the same.
        let _ = self.0.await;
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(pairs: &[(header::HeaderName, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn a_program_names_the_loopback_and_no_origin() {
        for host in ["127.0.0.1:4000", "127.0.0.1", "localhost:4000", "Localhost"] {
            assert!(!may_come_from_a_page(&headers(&[(header::HOST, host)])), "{host}");
        }
    }

    #[test]
    fn an_origin_or_another_name_may_be_a_page() {
        for host in ["", "evil.example", "localhost.evil.example:4000", "127.0.0.1.evil.example", "10.0.0.1:80"] {
            assert!(may_come_from_a_page(&headers(&[(header::HOST, host)])), "{host}");
        }
        assert!(may_come_from_a_page(&headers(&[])));
        for origin in ["null", "http://127.0.0.1:4000", "https://evil.example"] {
            assert!(may_come_from_a_page(&headers(&[(header::HOST, "127.0.0.1:4000"), (header::ORIGIN, origin)])), "{origin}");
        }
    }
}
