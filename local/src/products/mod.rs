//! The products, each made ready on the engines and mounted under its prefix.

pub mod checklists;

use crate::Error;
use crate::data::DataFolder;
use crate::engines::dynamodb::DynamoDb;
use crate::engines::secrets::SecretsManager;
use crate::front::Routes;
use crate::stack::Foundation;

/// All products, ready to be served.
pub(crate) struct Products {
    pub(crate) routes: Routes,
    pub(crate) checklists: checklists::Started,
}

/// Puts what each product begins with into engines without data.
pub(crate) async fn plant(folder: &DataFolder, dynamodb: &DynamoDb, secrets: &SecretsManager) -> Result<(), Error> {
    checklists::plant(folder, dynamodb, secrets).await
}

/// Makes every product ready.
pub(crate) async fn start(foundation: &Foundation<'_>) -> Result<Products, Error> {
    let (checklists, mount) = checklists::start(foundation).await?;
    Ok(Products { routes: Routes::default().mount(mount), checklists })
}
