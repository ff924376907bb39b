//! Mail goes out after the commit that it tells of.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use lettre::{AsyncFileTransport, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};

/// Mail that is not out after this long has failed: the caller is still waiting for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A mail to one person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// An address that was checked.
    pub to: String,
    /// One line.
    pub subject: String,
    /// Plain text.
    pub body: String,
}

/// The mail did not go out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undelivered {
    /// For the log: without the address and the text.
    pub cause: String,
    /// Whether sending it again would end the same way.
    pub is_final: bool,
}

impl Undelivered {
    /// It may go out another time.
    pub fn for_now(cause: impl Into<String>) -> Self {
        Self { cause: cause.into(), is_final: false }
    }

    /// It will not go out.
    pub fn for_good(cause: impl Into<String>) -> Self {
        Self { cause: cause.into(), is_final: true }
    }
}

/// Sends mail.
pub trait Mailer: Send + Sync {
    /// Hands a mail to the next server, or says why not.
    fn send(&self, mail: Mail) -> Pin<Box<dyn Future<Output = Result<(), Undelivered>> + Send + '_>>;
}

/// Sends over SMTP.
pub struct Smtp {
    from: Mailbox,
    transport: AsyncSmtpTransport<Tokio1Executor>,
}

impl Smtp {
    /// `url` is `smtps://user:password@host:465`, or `smtp://host:587?tls=required`; `from` is `Name <address>`.
    pub fn new(url: &str, from: &str) -> Result<Self, String> {
        let from = from.parse().map_err(|error| format!("the sender {from:?} is no address: {error}"))?;
        let builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(url).map_err(|_| "the SMTP URL cannot be read".to_owned())?;
        Ok(Self { from, transport: builder.timeout(Some(PATIENCE)).build() })
    }
}

impl Mailer for Smtp {
    fn send(&self, mail: Mail) -> Pin<Box<dyn Future<Output = Result<(), Undelivered>> + Send + '_>> {
        Box::pin(async move {
            let message = message(&self.from, &mail)?;
            let sent = tokio::time::timeout(PATIENCE, self.transport.send(message)).await;
            let sent = sent.map_err(|_| Undelivered::for_now("the mail server took too long"))?;
            sent.map(|_| ()).map_err(|error| {
                // A server's own words repeat the address.
                let cause = error
                    .status()
                    .map_or_else(|| "the mail server cannot be talked to".to_owned(), |code| format!("the mail server answered {code}"));
                Undelivered { cause, is_final: error.is_permanent() }
            })
        })
    }
}

/// Writes mail into a folder, one `.eml` file each: what the local stack does.
pub struct Folder {
    from: Mailbox,
    transport: AsyncFileTransport<Tokio1Executor>,
}

impl Folder {
    /// The folder must be there.
    pub fn at(folder: &Path) -> Self {
        let from = "Checklists <checklists@localhost>".parse().expect("the address is well formed");
        Self { from, transport: AsyncFileTransport::new(folder) }
    }
}

impl Mailer for Folder {
    fn send(&self, mail: Mail) -> Pin<Box<dyn Future<Output = Result<(), Undelivered>> + Send + '_>> {
        Box::pin(async move {
            let message = message(&self.from, &mail)?;
            self.transport.send(message).await.map(|_| ()).map_err(|error| Undelivered::for_now(error.to_string()))
        })
    }
}

/// Sends nothing: no mail server is configured.
pub struct Unconfigured;

impl Mailer for Unconfigured {
    fn send(&self, _: Mail) -> Pin<Box<dyn Future<Output = Result<(), Undelivered>> + Send + '_>> {
        Box::pin(async { Err(Undelivered::for_good("no mail server is configured: set SMTP_URL and MAIL_FROM")) })
    }
}

fn message(from: &Mailbox, mail: &Mail) -> Result<Message, Undelivered> {
    let to = mail.to.parse().map_err(|_| Undelivered::for_good("the address cannot be used"))?;
    Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, to))
        .subject(&mail.subject)
        .header(ContentType::TEXT_PLAIN)
        .body(mail.body.clone())
        .map_err(|_| Undelivered::for_good("the mail cannot be written"))
}
