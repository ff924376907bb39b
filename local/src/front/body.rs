//! A request's body: whole, too large or cut.

use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::EXPECT;
use http_body_util::BodyExt;

/// How much of a body that is too large is read and thrown away, and for how long. A client that is cut off while it
/// sends sees a broken connection and not the answer.
const DRAIN_BYTES: usize = 64 * 1024 * 1024;
const DRAIN_TIME: Duration = Duration::from_secs(5);

/// How a body arrived.
pub(super) enum Arrival {
    /// All of it.
    Whole(Bytes),
    /// It is, or says it is, larger than the limit. The rest has not been read.
    TooLarge,
    /// Its end never came, or it was not well formed.
    Cut,
}

/// Reads a body of `limit` bytes at most.
pub(super) async fn arrive(body: &mut Body, limit: usize) -> Arrival {
    let announced = body.size_hint().lower();
    if announced > limit as u64 {
        return Arrival::TooLarge;
    }
    // As it comes, and not as announced: an announcement costs nothing.
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Arrival::Cut };
        if let Ok(data) = frame.into_data() {
            if bytes.len() + data.len() > limit {
                return Arrival::TooLarge;
            }
            bytes.extend_from_slice(&data);
        }
    }
    Arrival::Whole(bytes.freeze())
}

/// Reads on in the background, while the answer is sent, and keeps nothing. A client that waits for permission to send
/// (Expect) sends nothing now.
pub(super) fn drain(headers: &HeaderMap, mut body: Body) {
    if headers.contains_key(EXPECT) {
        return;
    }
    tokio::spawn(tokio::time::timeout(DRAIN_TIME, async move {
        let mut left = DRAIN_BYTES;
        while let Some(Ok(frame)) = body.frame().await {
            let read = frame.data_ref().map_or(0, Bytes::len);
            let Some(rest) = left.checked_sub(read) else { return };
            left = rest;
        }
    }));
}
