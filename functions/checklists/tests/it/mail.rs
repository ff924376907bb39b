//! Mail over SMTP, against a server of a few lines on loopback.

use checklists::mail::{Mail, Mailer, Smtp, Unconfigured, Undelivered};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

fn mail() -> Mail {
    Mail { to: "ada@example.com".into(), subject: "Grüße".into(), body: "Hello,\n\n.a line that begins with a dot\n".into() }
}

/// A server that takes one mail, or answers the recipient with `refusal`. It gives what the client sent.
async fn server(refusal: Option<&'static str>) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("smtp://{}", listener.local_addr().unwrap());
    let session = tokio::spawn(async move {
        let (socket, _) = listener.accept().await.unwrap();
        let (reader, mut writer) = socket.into_split();
        let mut lines = BufReader::new(reader).lines();
        writer.write_all(b"220 test\r\n").await.unwrap();
        let (mut heard, mut in_mail) = (Vec::new(), false);
        while let Ok(Some(line)) = lines.next_line().await {
            let answer = match line.as_str() {
                "." if in_mail => {
                    in_mail = false;
                    "250 taken"
                }
                _ if in_mail => "",
                "DATA" => {
                    in_mail = true;
                    "354 go on"
                }
                "QUIT" => "221 bye",
                command if command.starts_with("RCPT") => refusal.unwrap_or("250 ok"),
                _ => "250 ok",
            };
            heard.push(line);
            if !answer.is_empty() {
                writer.write_all(format!("{answer}\r\n").as_bytes()).await.unwrap();
            }
        }
        heard
    });
    (url, session)
}

#[tokio::test]
async fn a_mail_reaches_the_server_with_sender_recipient_and_text() {
    let (url, session) = server(None).await;
    let smtp = Smtp::new(&url, "Checklists <checklists@example.com>").unwrap();
    smtp.send(mail()).await.unwrap();
    drop(smtp);
    let heard = session.await.unwrap();
    assert!(heard.iter().any(|line| line.starts_with("MAIL FROM:<checklists@example.com>")), "{heard:?}");
    assert!(heard.iter().any(|line| line == "RCPT TO:<ada@example.com>"), "{heard:?}");
    assert!(heard.iter().any(|line| line == "..a line that begins with a dot"), "{heard:?}");
}

#[tokio::test]
async fn a_recipient_that_the_server_refuses_is_undelivered() {
    let (url, _session) = server(Some("550 nobody here")).await;
    let smtp = Smtp::new(&url, "checklists@example.com").unwrap();
    let undelivered = smtp.send(mail()).await.unwrap_err();
    assert_eq!(undelivered, Undelivered::for_good("the mail server answered 550"), "its own words may repeat the address");
    let (url, _session) = server(Some("450 later")).await;
    let smtp = Smtp::new(&url, "checklists@example.com").unwrap();
    assert_eq!(smtp.send(mail()).await, Err(Undelivered::for_now("the mail server answered 450")));
}

#[tokio::test]
async fn a_server_that_is_away_and_none_at_all_are_undelivered() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let smtp = Smtp::new(&format!("smtp://127.0.0.1:{port}"), "checklists@example.com").unwrap();
    assert!(smtp.send(mail()).await.is_err());
    assert!(Unconfigured.send(mail()).await.unwrap_err().cause.contains("SMTP_URL"));
}

#[test]
fn a_wrong_setting_is_told_and_the_password_is_not() {
    let told = Smtp::new("nonsense://user:secret@host", "checklists@example.com").err().unwrap();
    assert!(!told.contains("secret"), "{told}");
    assert!(Smtp::new("smtp://127.0.0.1", "not an address").is_err());
}
