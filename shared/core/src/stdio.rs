//! The transport of a server that runs beside its one client: a message a line, on standard input and output.
//!
//! Quick answers come in the order of the questions; a call that takes its time holds up nothing after it. The end of the
//! input ends the server, once what runs has been answered.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};

use crate::mcp::{Lines, Product, Record, Server, Session};

/// The most calls at work at once. Further lines wait to be read.
const MOST_RUNNING: usize = 32;

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
    let mut ended = false;
    while !ended || !running.is_empty() {
        let answered = tokio::select! {
            Some(answered) = running.next() => answered,
            read = reader.next(), if !ended && running.len() < MOST_RUNNING => match read? {
                Read::End => {
                    ended = true;
                    continue;
                }
                Read::TooLong => server.too_long_a_line(),
                Read::Line(line) => {
                    let session = &session;
                    let mut call = Box::pin(async move { server.line(caller, session, &line).await });
                    match poll_fn(|context| Poll::Ready(call.as_mut().poll(context))).await {
                        Poll::Ready(answered) => answered,
                        Poll::Pending => {
                            running.push(call);
                            continue;
                        }
                    }
                }
            },
        };
        let Lines { lines, record } = answered;
        observe(&record);
        for line in lines {
            output.write_all(line.as_bytes()).await?;
            output.write_all(b"\n").await?;
        }
        output.flush().await?;
    }
    Ok(())
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
