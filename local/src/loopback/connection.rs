//! A connection that waits for its client, and not for ever.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::extract::Request;
use axum::extract::connect_info::{ConnectInfo, Connected};
use axum::middleware::Next;
use axum::response::Response;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Sleep};

/// Accepts connections that end when a request head does not arrive within a time.
pub(super) struct Patient {
    listener: TcpListener,
    head_time: Duration,
}

impl Patient {
    pub(super) fn new(listener: TcpListener, head_time: Duration) -> Patient {
        Patient { listener, head_time }
    }
}

impl Listener for Patient {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        let now = Instant::now();
        let turn = Turn(Arc::new(Mutex::new(Some(now))));
        let over = Box::pin(tokio::time::sleep_until(now + self.head_time));
        (Connection { stream, turn, head_time: self.head_time, over }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// Whose turn it is: since when the client's, or nobody's but ours while a request runs.
#[derive(Clone)]
pub(super) struct Turn(Arc<Mutex<Option<Instant>>>);

impl Turn {
    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connected<IncomingStream<'_, Patient>> for Turn {
    fn connect_info(stream: IncomingStream<'_, Patient>) -> Turn {
        stream.io().turn.clone()
    }
}

/// The time of a head stands still while its request runs.
pub(super) async fn take_turn(ConnectInfo(turn): ConnectInfo<Turn>, request: Request, next: Next) -> Response {
    *turn.lock() = None;
    let response = next.run(request).await;
    *turn.lock() = Some(Instant::now());
    response
}

/// A connection that fails to read once its client has had its time.
pub(super) struct Connection {
    stream: TcpStream,
    turn: Turn,
    head_time: Duration,
    over: Pin<Box<Sleep>>,
}

impl AsyncRead for Connection {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if let Poll::Ready(read) = Pin::new(&mut this.stream).poll_read(cx, buffer) {
            return Poll::Ready(read);
        }
        let Some(since) = *this.turn.lock() else { return Poll::Pending };
        let deadline = since + this.head_time;
        if this.over.deadline() != deadline {
            this.over.as_mut().reset(deadline);
        }
        ready!(this.over.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
