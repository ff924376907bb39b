//! What the function stands on here: the local stack's engines, a counting proxy before the table, and a mail server that
//! takes everything.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

use checklists::operator::{Desk, PlanChange};
use checklists::store::{DESIGN, Store};
use local::engines::dynamodb::{DynamoDb, SWEEP_EVERY, Storage};
use local::engines::secrets::{SecretStore, SecretValue, SecretsManager};
use onepost_cloud::table::Table;
use onepost_cloud::{aws, secrets};
use onepost_core::clock::SystemClock;
use onepost_core::error::ToolError;

use crate::Failed;
use crate::proxy::Proxy;

const PEPPER: &str = "checklists/pepper";

/// Engines with a table and a pepper.
pub struct Ground {
    /// Where organisations and keys are made, past the proxy.
    pub desk: Desk,
    /// Between the function and the table.
    pub proxy: Proxy,
    vault: SecretsManager,
    mail: String,
    _dynamodb: DynamoDb,
}

/// An organisation and its owner's key.
pub struct Tenant {
    /// The organisation's id.
    pub organisation: String,
    /// The key.
    pub key: String,
}

impl Ground {
    /// Everything in memory, on ports that the operating system picks.
    pub async fn new() -> Result<Self, Failed> {
        let dynamodb = DynamoDb::start(Storage::Memory, SWEEP_EVERY).await?;
        let vault = SecretsManager::start(SecretStore::memory()).await?;
        let pepper = SecretValue::String(secrets::to_hex(&[7; 32]));
        vault.store().create(PEPPER, None, None, Some(pepper)).map_err(|refusal| format!("{refusal:?}"))?;
        let peppers = secrets::peppers(&aws::on_this_machine(vault.url()), PEPPER).await?;
        let store = Store::new(Table::new(&aws::on_this_machine(dynamodb.url()), "checklists"));
        store.table().provision(&DESIGN).await?;
        let desk = Desk::new(store, peppers, SystemClock);
        let proxy = Proxy::before(dynamodb.url()).await?;
        Ok(Self { desk, proxy, vault, mail: mail_server()?, _dynamodb: dynamodb })
    }

    /// What the function is told.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let told = |name: &'static str, value: &str| (name, value.to_owned());
        vec![
            told("AWS_REGION", "eu-central-1"),
            told("AWS_ACCESS_KEY_ID", "measured"),
            told("AWS_SECRET_ACCESS_KEY", "measured"),
            told("AWS_ENDPOINT_URL_DYNAMODB", &self.proxy.url),
            told("AWS_ENDPOINT_URL_SECRETS_MANAGER", self.vault.url()),
            told("TABLE", "checklists"),
            told("PEPPER_SECRET", PEPPER),
            told("SITE", "https://checklists.example"),
            told("SMTP_URL", &self.mail),
            told("MAIL_FROM", "Checklists <checklists@checklists.example>"),
            // The limits of calls are measured apart (docs/cost.md): with these no lease falls into a call that is
            // measured, since each organisation's first 16 calls in a window need none.
            told("CALLS_PER_KEY", "1000000"),
            told("CALLS_PER_ORGANISATION", "1000000"),
        ]
    }

    /// A new organisation that may have a great deal of everything.
    pub async fn tenant(&self) -> Result<Tenant, Failed> {
        let (organisation, owner) = self.desk.create_organisation("Home", "Olive Owner", "olive@home.example").await.map_err(failed)?;
        let plenty = PlanChange { runs_per_month: Some(100_000), assets: Some(100_000), ..PlanChange::default() };
        self.desk.change_plan(&organisation.id, plenty).await.map_err(failed)?;
        let key = self.desk.mint_key(&organisation.id, &owner.user_id, "budget", None).await.map_err(failed)?;
        Ok(Tenant { organisation: organisation.id, key: key.plain.reveal().to_owned() })
    }
}

/// A tool's error as one of ours.
pub fn failed(error: ToolError) -> Failed {
    format!("{error:?}").into()
}

fn mail_server() -> std::io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("smtp://127.0.0.1:{}", listener.local_addr()?.port());
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let _hung_up = take_mail(&connection);
        }
    });
    Ok(url)
}

fn take_mail(connection: &TcpStream) -> std::io::Result<()> {
    let mut answers = connection;
    answers.write_all(b"220 mail.example\r\n")?;
    let mut is_text = false;
    for line in BufReader::new(connection).lines() {
        let line = line?;
        let answer = match line.split(' ').next().unwrap_or_default() {
            "." if is_text => {
                is_text = false;
                "250 taken"
            }
            _ if is_text => continue,
            "DATA" => {
                is_text = true;
                "354 go on"
            }
            "QUIT" => "221 bye",
            _ => "250 mail.example",
        };
        answers.write_all(format!("{answer}\r\n").as_bytes())?;
    }
    Ok(())
}
