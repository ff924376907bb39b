//! The whole stack: what runs together, in which order it starts and stops, and where the products are mounted.

use std::path::PathBuf;

use serde_json::json;

use crate::Error;
use crate::data::{DataFolder, Staging, write_private};
use crate::engines::dynamodb::{DynamoDb, SWEEP_EVERY, Storage};
use crate::engines::secrets::{SecretStore, SecretsManager};
use crate::front::{Front, Limits};
use crate::loopback::Served;
use crate::products::{self, Products};

/// How the stack is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// The port of the HTTP front on 127.0.0.1; 0 takes any free one.
    pub port: u16,
    /// The data folder, made where it is missing.
    pub data: PathBuf,
}

impl Default for Options {
    fn default() -> Options {
        Options { port: 8787, data: PathBuf::from(".onepost") }
    }
}

/// What a product is given to stand on.
pub struct Foundation<'a> {
    /// The data folder, locked by this stack.
    pub folder: &'a DataFolder,
    /// DynamoDB, served.
    pub dynamodb: &'a DynamoDb,
    /// Secrets Manager, served.
    pub secrets: &'a SecretsManager,
    /// Where the front will answer: `http://127.0.0.1:<port>`.
    pub base_url: &'a str,
}

/// Starts the stack.
pub struct Stack;

impl Stack {
    /// Starts everything and returns when all of it answers.
    ///
    /// # Errors
    /// The first thing that stands in the way; what had started until then has stopped again. A folder without data is
    /// then still without. In one with data, rows past their TTL may have been deleted, and a product that the folder did
    /// not know may have its table and its secret.
    pub async fn start(options: Options) -> Result<Running, Error> {
        let folder = DataFolder::open(&options.data)?;
        // Before the engines, which may have a large file to check.
        let front = Front::bind(options.port)?;

        let is_first_start = !folder.holds_data()?;
        if is_first_start {
            plant(&folder).await?;
        }
        let (dynamodb, secrets) = engines(folder.dynamodb(), folder.secrets()).await?;
        let foundation = Foundation { folder: &folder, dynamodb: &dynamodb, secrets: &secrets, base_url: front.base_url() };
        let mut products = match furnish(&foundation).await {
            Ok(products) => products,
            Err(error) => {
                tokio::join!(dynamodb.stop(), secrets.stop());
                return Err(error);
            }
        };
        products.checklists.is_first_start |= is_first_start;

        Ok(Running {
            base_url: front.base_url().to_owned(),
            dynamodb_url: dynamodb.url().to_owned(),
            secrets_url: secrets.url().to_owned(),
            checklists: products.checklists,
            front: Served::start(|stopping| front.serve(products.routes, stopping.wait())),
            dynamodb,
            secrets,
            folder,
        })
    }
}

/// Makes the products ready and writes down where everything answers.
async fn furnish(foundation: &Foundation<'_>) -> Result<Products, Error> {
    let Foundation { folder, dynamodb, secrets, .. } = foundation;
    let products = products::start(foundation).await?;
    let engines = json!({
        "dynamodb": dynamodb.url(),
        "secretsmanager": secrets.url(),
        "pid": std::process::id(),
        "checklists": { "table": products.checklists.table, "pepper_secret": products.checklists.pepper_secret },
    });
    write_private(&folder.engines(), format!("{engines:#}\n").as_bytes())?;
    let endpoints = json!({
        "checklists": { "mcp": products.checklists.mcp, "key": products.checklists.key },
    });
    write_private(&folder.endpoints(), format!("{endpoints:#}\n").as_bytes())?;
    Ok(products)
}

/// Opens both files and serves them. A large one takes a while to read and to check, which is done off the async threads.
async fn engines(tables: PathBuf, secrets: PathBuf) -> Result<(DynamoDb, SecretsManager), Error> {
    let store = tokio::task::spawn_blocking(move || SecretStore::open(secrets));
    let store = store.await.map_err(|reason| Error::Engine { engine: "Secrets Manager", reason: reason.to_string() })??;
    let dynamodb = DynamoDb::start(Storage::File(tables), SWEEP_EVERY).await?;
    match SecretsManager::start(store).await {
        Ok(secrets) => Ok((dynamodb, secrets)),
        Err(error) => {
            dynamodb.stop().await;
            Err(error)
        }
    }
}

/// Makes what a new folder begins with, aside, and puts all of it into place at once: a first start that is killed, at
/// whatever moment, leaves a folder with the whole of it or without data.
async fn plant(folder: &DataFolder) -> Result<(), Error> {
    let unusable = |reason| Error::FolderUnusable { path: folder.path().to_owned(), reason };
    let staging = Staging::new(folder).map_err(unusable)?;
    let (dynamodb, secrets) = engines(staging.dynamodb(), staging.secrets()).await?;
    let planted = products::plant(folder, &dynamodb, &secrets).await;
    tokio::join!(dynamodb.stop(), secrets.stop());
    planted?;
    staging.commit().map_err(unusable)
}

/// A stack that runs. Dropped without [`Running::stop`], it stops on its own a little later, and `engines.json` stays.
pub struct Running {
    /// The HTTP front: `http://127.0.0.1:<port>`.
    pub base_url: String,
    /// DynamoDB's endpoint URL.
    pub dynamodb_url: String,
    /// Secrets Manager's endpoint URL.
    pub secrets_url: String,
    /// Where checklists answers, and with which key.
    pub checklists: products::checklists::Started,
    front: Served,
    dynamodb: DynamoDb,
    secrets: SecretsManager,
    folder: DataFolder,
}

impl Running {
    /// The data folder.
    pub fn folder(&self) -> &DataFolder {
        &self.folder
    }

    /// DynamoDB, for what the wire does not offer.
    pub fn dynamodb(&self) -> &DynamoDb {
        &self.dynamodb
    }

    /// Secrets Manager, for what the wire does not offer.
    pub fn secrets(&self) -> &SecretsManager {
        &self.secrets
    }

    /// Finishes the requests that run, closes the engines' files and gives the folder back. Takes milliseconds, and 10
    /// seconds at most where clients do not finish their requests.
    ///
    /// # Errors
    /// [`Error::FileUnusable`] where `engines.json` cannot be removed. Everything has stopped then as well.
    pub async fn stop(self) -> Result<(), Error> {
        // The front first: what it still answers needs the engines. It keeps its own bound; the second here is its due.
        self.front.stop(Limits::default().stop_within + std::time::Duration::from_secs(1)).await;
        tokio::join!(self.dynamodb.stop(), self.secrets.stop());
        let engines = self.folder.engines();
        match std::fs::remove_file(&engines) {
            Err(reason) if reason.kind() != std::io::ErrorKind::NotFound => Err(Error::FileUnusable { path: engines, reason }),
            _ => Ok(()),
        }
    }
}
