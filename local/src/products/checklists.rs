//! Checklists on the local engines: its table, its pepper, its demo organisation and a key.

use std::sync::Arc;

use checklists::links::Site;
use checklists::mail::Folder;
use checklists::operator::Desk;
use checklists::settings::CALLS;
use checklists::store::{DESIGN, Store};
use checklists::{Checklists, KEYS, demo};
use dynoxide::actions::scan::ScanRequest;
use dynoxide::{Database, DynoxideError};
use onepost_cloud::limits::Limiter;
use onepost_cloud::table::Table;
use onepost_cloud::telemetry::Observed;
use onepost_cloud::{aws, secrets};
use onepost_core::auth::{KeyCache, Peppers};
use onepost_core::clock::{Clock, SystemClock};
use onepost_core::error::ToolError;
use onepost_core::http::Gate;
use onepost_core::id::Ids;
use onepost_core::mcp::Server;
use serde_json::Value;

use crate::Error;
use crate::data::DataFolder;
use crate::engines::dynamodb::DynamoDb;
use crate::engines::secrets::{SecretStore, SecretValue, SecretsManager};
use crate::front::Mount;
use crate::stack::Foundation;

const PREFIX: &str = "/checklists";
const TABLE: &str = "checklists";
const PEPPER: &str = "checklists/pepper";

/// Names the demo organisation. Kept beside the secrets, so that it goes along with an export.
const DEMO: &str = "local/checklists/demo-organisation";

/// The product as it was started.
#[derive(Debug, Clone)]
pub struct Started {
    /// The URL of its MCP endpoint.
    pub mcp: String,
    /// A key of the demo organisation.
    pub key: String,
    /// The demo organisation's id.
    pub organisation: String,
    /// Whether the demo organisation was made just now.
    pub is_first_start: bool,
    /// The table's name.
    pub table: &'static str,
    /// The name of the secret with the pepper.
    pub pepper_secret: &'static str,
}

/// What the product keeps, ready to be used.
struct Ground {
    store: Store,
    peppers: Peppers,
    desk: Desk,
    demo: String,
    is_new: bool,
}

/// Puts what the product begins with into engines without data.
pub(super) async fn plant(folder: &DataFolder, dynamodb: &DynamoDb, secrets: &SecretsManager) -> Result<(), Error> {
    ground(folder, dynamodb, secrets).await.map(drop)
}

/// The product's table, pepper and demo organisation: found, or made in a folder that does not know the product.
async fn ground(folder: &DataFolder, dynamodb: &DynamoDb, secrets_manager: &SecretsManager) -> Result<Ground, Error> {
    let apart = |missing| Error::DataApart { path: folder.path().to_owned(), missing };
    let vault = secrets_manager.store();
    // Told before anything is written: a new pepper would make every key in the table good for nothing, and a new
    // organisation would look like all that there ever was.
    let demo = text_of(vault, DEMO);
    let has_items = has_items(dynamodb.database())?;
    if has_items && vault.find(PEPPER).is_err() {
        return Err(apart(format!("the secret {PEPPER}, without which no key of the table {TABLE} can be used,")));
    }
    if demo.is_some() && !has_items {
        return Err(apart(format!("all of the table {TABLE}, to which the secrets belong,")));
    }

    find_or_make(vault, PEPPER, || secrets::to_hex(&Ids::default().bytes()))?;
    let peppers = secrets::peppers(&aws::on_this_machine(secrets_manager.url()), PEPPER).await.map_err(failed)?;
    let store = Store::new(Table::new(&aws::on_this_machine(dynamodb.url()), TABLE));
    store.table().provision(&DESIGN).await.map_err(failed)?;
    let desk = Desk::new(store.clone(), peppers.clone(), SystemClock);

    let is_new = demo.is_none();
    let demo = match demo {
        Some(id) if store.organisation(&desk.org(&id)).await.map_err(failed)?.is_some() => id,
        Some(id) => return Err(apart(format!("the organisation {id}, which the secrets name,"))),
        None => {
            let organisation = demo::plant(&desk, &Ids::default()).await.map_err(told)?;
            // Written last: a start that is killed in between plants another garden instead of half of one.
            find_or_make(vault, DEMO, || organisation.id.clone())?;
            organisation.id
        }
    };
    Ok(Ground { store, peppers, desk, demo, is_new })
}

/// Makes the product ready and mounts it.
pub(super) async fn start(foundation: &Foundation<'_>) -> Result<(Started, Mount), Error> {
    let ground = ground(foundation.folder, foundation.dynamodb, foundation.secrets).await?;
    let Ground { store, peppers, desk, demo: org_id, is_new: is_first_start } = ground;
    let kept = kept_key(foundation);
    let key = match usable(&desk, &org_id, kept).await.map_err(told)? {
        Some(key) => key,
        None => demo::key(&desk, &org_id).await.map_err(told)?,
    };

    let product = Checklists {
        limiter: Some(Limiter::new(store.table().clone(), CALLS)),
        store,
        peppers,
        site: Site::at(&format!("{}{PREFIX}", foundation.base_url)),
        mailer: Box::new(Folder::at(&foundation.folder.mail())),
        gate: Gate { origins: Vec::new(), local: true },
        clock: Box::new(SystemClock),
        ids: Ids::default(),
        keys: KeyCache::default(),
    };
    let mount = Mount {
        prefix: PREFIX.to_owned(),
        about: "Checklists: teams dispatch them to people with phones.".to_owned(),
        paths: vec!["/mcp".to_owned()],
        endpoint: Arc::new(Observed(Server::new(product))),
    };
    let mcp = format!("{}{PREFIX}/mcp", foundation.base_url);
    Ok((Started { mcp, key, organisation: org_id, is_first_start, table: TABLE, pepper_secret: PEPPER }, mount))
}

/// The key that an earlier start wrote down.
fn kept_key(foundation: &Foundation<'_>) -> Option<String> {
    let endpoints: Value = serde_json::from_slice(&std::fs::read(foundation.folder.endpoints()).ok()?).ok()?;
    Some(endpoints["checklists"]["key"].as_str()?.to_owned())
}

/// The key, if it still opens the demo organisation.
async fn usable(desk: &Desk, org_id: &str, key: Option<String>) -> Result<Option<String>, ToolError> {
    let Some(plain) = key.and_then(|key| KEYS.parse(&key)) else { return Ok(None) };
    let alive = desk.keys(org_id).await?.into_iter().any(|record| record.id == plain.id() && !record.ended_by(SystemClock.now()));
    Ok(alive.then(|| plain.reveal().to_owned()))
}

fn has_items(database: &Database) -> Result<bool, Error> {
    let one = ScanRequest { table_name: TABLE.to_owned(), limit: Some(1), ..ScanRequest::default() };
    match database.scan(one) {
        Ok(page) => Ok(page.items.is_some_and(|items| !items.is_empty())),
        Err(DynoxideError::ResourceNotFoundException(_)) => Ok(false),
        Err(reason) => Err(failed(reason)),
    }
}

fn text_of(vault: &SecretStore, name: &str) -> Option<String> {
    let secret = vault.find(name).ok()?;
    match &secret.version(None, None).ok()?.value {
        SecretValue::String(text) => Some(text.clone()),
        SecretValue::Binary(_) => None,
    }
}

fn find_or_make(vault: &SecretStore, name: &str, make: impl FnOnce() -> String) -> Result<(), Error> {
    if vault.find(name).is_ok() {
        return Ok(());
    }
    let made = vault.create(name, None, None, Some(SecretValue::String(make())));
    made.map(|_| ()).map_err(|refusal| failed(format!("the secret {name} cannot be made: {refusal}")))
}

fn failed(reason: impl ToString) -> Error {
    Error::Product { product: "Checklists", reason: reason.to_string() }
}

fn told(error: ToolError) -> Error {
    failed(error.cause().unwrap_or(error.message()))
}
