//! The transport of a server that runs beside its one client: a message a line, on standard input and output.
//!
//! Quick answers come in the order of the questions; a call that takes its time holds up nothing after it, and ends
//! without an answer when the client cancels it. The end of the input ends the server, after a short wait for what runs.

use std::future::poll_fn;
use std::io;
use std::task::Poll;
use std::time::Duration;

use futures_util::future::{AbortHandle, Abortable, Aborted};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::Instant;

use crate::jsonrpc::{self, Error, Id, Incoming, Message, Request};
use crate::mcp::{Lines, Product, Record, Server, Session};

/// The most calls at work at once. Further ones are refused before they begin; everything else is still answered.
const MOST_RUNNING: usize = 32;

/// How long calls that run may take after the input has ended: nobody may be left to read their answers.
const AFTER_THE_END: Duration = Duration::from_secs(10);

/// Serves one client until its input ends. `observe` sees what the log will say of each message.
///
/// # Errors
/// Whatever reading or writing fails with. A client that no longer reads is one of them.
pub async fn serve<P: Product>(
    server: &Server<P>,
    caller: &P::Caller,
    input: impl AsyncBufRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
    observe: impl Fn(&Record),
) -> io::Result<()> {
    let session = Session::default();
    let mut reader = LineReader { input, line: Vec::new(), limit: P::PROFILE.body_limit, too_long: false };
    let mut running = FuturesUnordered::new();
    // Of the calls that run, by their number: what cancels them.
    let mut handles: Vec<(u64, Option<Id>, AbortHandle)> = Vec::new();
    let mut number = 0;
    let mut ended_at: Option<Instant> = None;
    while ended_at.is_none() || !running.is_empty() {
        let deadline = ended_at.map(|at| at + AFTER_THE_END);
        let answered = tokio::select! {
            // A call that was cancelled ends here too, without an answer.
            Some((ended, answered)) = running.next() => {
                let answered: Result<Lines, Aborted> = answered;
                handles.retain(|(running, ..)| *running != ended);
                answered.ok()
            }
            read = reader.next(), if ended_at.is_none() => match read? {
                Read::End => {
                    ended_at = Some(Instant::now());
                    None
                }
                Read::TooLong => {
                    let message = format!("The line is longer than {} bytes. Send less in one call.", P::PROFILE.body_limit);
                    Some(server.refused_line(None, &Error::invalid_request(message)))
                }
                Read::Line(line) => {
                    let message = jsonrpc::parse(&line);
                    if let Some(id) = cancelled(&message) {
                        let is_meant = |running: &Option<Id>| running.as_ref().is_some_and(|running| running.is(id));
                        handles.iter().filter(|(_, running, _)| is_meant(running)).for_each(|(.., handle)| handle.abort());
                    }
                    let asked = asked(&message);
                    let id = asked.map(|request| request.id.clone());
                    if running.len() >= MOST_RUNNING && asked.is_some_and(|request| request.method == "tools/call") {
                        let message = format!("{MOST_RUNNING} calls are at work, so this one was not begun. Wait for one to end, or cancel one.");
                        Some(server.refused_line(id.as_ref(), &Error::invalid_request(message)))
                    } else {
                        let (handle, registration) = AbortHandle::new_pair();
                        number += 1;
                        let this = number;
                        let call = Abortable::new(server.message(caller, &session, message), registration);
                        let mut call = Box::pin(call.map(move |answered| (this, answered)));
                        match poll_fn(|context| Poll::Ready(call.as_mut().poll(context))).await {
                            Poll::Ready((_, answered)) => answered.ok(),
                            Poll::Pending => {
                                handles.push((this, id, handle));
                                running.push(call);
                                None
                            }
                        }
                    }
                }
            },
            () = until(deadline) => return Ok(()),
        };
        let Some(Lines { lines, record }) = answered else { continue };
        observe(&record);
        for line in lines {
            output.write_all(line.as_bytes()).await?;
            output.write_all(b"\n").await?;
        }
        output.flush().await?;
    }
    Ok(())
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// The request, if the line holds one.
fn asked(message: &Result<Incoming, Error>) -> Option<&Request> {
    match message {
        Ok(Incoming::One(Ok(Message::Request(request)))) => Some(request),
        _ => None,
    }
}

/// The id of the request that a notification cancels.
fn cancelled(message: &Result<Incoming, Error>) -> Option<&Value> {
    match message {
        Ok(Incoming::One(Ok(Message::Notification { method, params }))) if method == "notifications/cancelled" => params.get("requestId"),
        _ => None,
    }
}

enum Read {
    Line(Vec<u8>),
    TooLong,
    End,
}

/// Reads lines of a bounded length. What it has read of a line stays with it, so that a call to [`LineReader::next`] may
/// be given up and made again.
struct LineReader<R> {
    input: R,
    line: Vec<u8>,
    limit: usize,
    /// The rest of the present line is to be thrown away.
    too_long: bool,
}

impl<R: AsyncBufRead + Unpin> LineReader<R> {
    async fn next(&mut self) -> io::Result<Read> {
        loop {
            let available = self.input.fill_buf().await?;
            let at_end = available.is_empty();
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = &available[..end.unwrap_or(available.len())];
            if self.line.len() + part.len() > self.limit {
                self.too_long = true;
                self.line.clear();
            } else if !self.too_long {
                self.line.extend_from_slice(part);
            }
            let consumed = end.map_or(available.len(), |end| end + 1);
            self.input.consume(consumed);
            if end.is_none() && !at_end {
                continue;
            }
            if std::mem::take(&mut self.too_long) {
                return Ok(Read::TooLong);
            }
            let line = std::mem::take(&mut self.line);
            if !line.trim_ascii().is_empty() {
                return Ok(Read::Line(line));
            }
            if at_end {
                return Ok(Read::End);
            }
        }
    }
}
