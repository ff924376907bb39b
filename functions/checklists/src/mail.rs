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

/// The mail did not go out. The text is for the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undelivered(pub String);

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
            sent.map_err(|_| Undelivered("the mail server took too long".into()))?.map(|_| ()).map_err(|error| Undelivered(error.to_string()))
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
            self.transport.send(message).await.map(|_| ()).map_err(|error| Undelivered(error.to_string()))
        })
    }
}

/// Sends nothing: no mail server is configured.
pub struct Unconfigured;

impl Mailer for Unconfigured {
    fn send(&self, _: Mail) -> Pin<Box<dyn Future<Output = Result<(), Undelivered>> + Send + '_>> {
        Box::pin(async { Err(Undelivered("no mail server is configured: set SMTP_URL and MAIL_FROM".into())) })
    }
}

fn message(from: &Mailbox, mail: &Mail) -> Result<Message, Undelivered> {
    let undelivered = |error: String| Undelivered(error);
    let to = mail.to.parse().map_err(|error| undelivered(format!("the address cannot be used: {error}")))?;
    Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, to))
        .subject(&mail.subject)
        .header(ContentType::TEXT_PLAIN)
        .body(mail.body.clone())
        .map_err(|error| undelivered(error.to_string()))
}
