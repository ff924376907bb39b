//! Listening on this machine alone, and stopping within a bound.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Listens on 127.0.0.1. Port 0 takes any free one.
pub(crate) fn listen(port: u16) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    // As the standard library does: a port whose last connections linger in TIME_WAIT can be taken again.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    // Connections inherit it where the listener is served by code that does not set it (the DynamoDB engine's).
    socket.set_nodelay(true)?;
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    socket.listen(1024)
}

/// `http://127.0.0.1:<port>`, without a slash at the end.
pub(crate) fn url(listener: &TcpListener) -> io::Result<String> {
    Ok(format!("http://{}", listener.local_addr()?))
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
