//! A proxy between the function and the table that counts round trips in sequence.
//!
//! While it counts, it holds every answer back until each request that is on its way has its answer and nothing more was
//! sent for a moment, then lets all of them go at once. What was asked at the same time is so one wave, and what was asked
//! after an answer is another one, however quick the table is.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// For how long nothing more may be asked until a wave is over. A function that asks two things at once does so within
/// microseconds.
const QUIET: Duration = Duration::from_millis(40);

/// The proxy.
#[derive(Clone)]
pub struct Proxy {
    /// Where it listens.
    pub url: String,
    wire: Arc<Wire>,
}

struct Wire {
    counts: AtomicBool,
    waves: AtomicU64,
    traffic: Mutex<Traffic>,
    released: Notify,
}

struct Traffic {
    /// Requests without an answer.
    asked: u64,
    /// Answers that are held back.
    held: u64,
    last: Instant,
}

impl Proxy {
    /// Stands in front of the server at this address, which is `http://host:port`.
    pub async fn before(url: &str) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let traffic = Mutex::new(Traffic { asked: 0, held: 0, last: Instant::now() });
        let (counts, waves) = (AtomicBool::new(false), AtomicU64::new(0));
        let wire = Arc::new(Wire { counts, waves, traffic, released: Notify::new() });
        let proxy = Self { url: format!("http://{}", listener.local_addr()?), wire };
        tokio::spawn(accept(listener, url.trim_start_matches("http://").to_owned(), proxy.wire.clone()));
        tokio::spawn(release(proxy.wire.clone()));
        Ok(proxy)
    }

    /// Counts from zero.
    pub fn count(&self) {
        self.wire.waves.store(0, Ordering::SeqCst);
        self.wire.counts.store(true, Ordering::SeqCst);
    }

    /// Counts no more, and tells the round trips in sequence since it was told to count.
    pub fn waves(&self) -> u64 {
        self.wire.counts.store(false, Ordering::SeqCst);
        self.wire.waves.load(Ordering::SeqCst)
    }
}

impl Wire {
    fn traffic<T>(&self, work: impl FnOnce(&mut Traffic) -> T) -> T {
        work(&mut self.traffic.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn accept(listener: TcpListener, server: String, wire: Arc<Wire>) {
    while let Ok((client, _)) = listener.accept().await {
        let Ok(server) = TcpStream::connect(&server).await else { continue };
        // Small packets: waiting for more of them would be another hold.
        let _either_way = (client.set_nodelay(true), server.set_nodelay(true));
        tokio::spawn(serve(client, server, wire.clone()));
    }
}

/// Carries bytes both ways. A connection asks one thing at a time: after a request comes its answer.
async fn serve(client: TcpStream, server: TcpStream, wire: Arc<Wire>) {
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    let waiting = Arc::new(AtomicBool::new(false));
    tokio::join!(requests(from_client, to_server, &wire, &waiting), answers(from_server, to_client, &wire, &waiting));
}

async fn requests(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, wire: &Wire, waiting: &AtomicBool) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(length) = from.read(&mut bytes).await {
        if length == 0 {
            break;
        }
        // Before it is carried on: its answer may come at once.
        let is_first = !waiting.swap(true, Ordering::SeqCst);
        wire.traffic(|traffic| {
            traffic.asked += u64::from(is_first);
            traffic.last = Instant::now();
        });
        if to.write_all(&bytes[..length]).await.is_err() {
            break;
        }
    }
    let _closed_already = to.shutdown().await;
}

async fn answers(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, wire: &Wire, waiting: &AtomicBool) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(length) = from.read(&mut bytes).await {
        if length == 0 {
            break;
        }
        let is_first = waiting.swap(false, Ordering::SeqCst);
        let released = wire.released.notified();
        tokio::pin!(released);
        released.as_mut().enable();
        let holds = is_first && wire.counts.load(Ordering::SeqCst);
        wire.traffic(|traffic| {
            traffic.asked -= u64::from(is_first);
            traffic.held += u64::from(holds);
            traffic.last = Instant::now();
        });
        if holds {
            released.await;
        }
        if to.write_all(&bytes[..length]).await.is_err() {
            break;
        }
    }
    let _closed_already = to.shutdown().await;
}

async fn release(wire: Arc<Wire>) {
    loop {
        tokio::time::sleep(QUIET / 8).await;
        let is_over = wire.traffic(|traffic| {
            let is_over = traffic.held > 0 && traffic.asked == 0 && traffic.last.elapsed() >= QUIET;
            if is_over {
                traffic.held = 0;
            }
            is_over
        });
        if is_over {
            wire.waves.fetch_add(1, Ordering::SeqCst);
            wire.released.notify_waiters();
        }
    }
}
