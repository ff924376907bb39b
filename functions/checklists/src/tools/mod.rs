//! The 17 tools, one file per family: arguments, results, handler.

mod assets;
mod cursor;
mod members;
mod runs;
mod templates;

use onepost_core::catalog::Catalog;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Checklists;

/// The tools, in the order they are advertised.
pub fn catalog() -> Catalog<Checklists> {
    Catalog::new()
        .with::<assets::ListAssets>()
        .with::<assets::GetAsset>()
        .with::<assets::CreateAsset>()
        .with::<assets::UpdateAsset>()
        .with::<assets::DeleteAsset>()
        .with::<templates::ListTemplates>()
        .with::<templates::GetTemplate>()
        .with::<templates::CreateTemplate>()
        .with::<templates::UpdateTemplate>()
        .with::<templates::DeleteTemplate>()
        .with::<runs::CreateRun>()
        .with::<runs::GetRun>()
        .with::<runs::ListRuns>()
        .with::<runs::DeleteRun>()
        .with::<members::ListMembers>()
        .with::<members::InviteMember>()
        .with::<members::RemoveMember>()
}

/// Arguments of a tool that takes none.
#[derive(serde::Deserialize, JsonSchema)]
pub struct NoArguments {}

/// A list without pages.
#[derive(Serialize, JsonSchema)]
pub struct List<T> {
    /// The whole list.
    data: Vec<T>,
}

/// A name: one line that is not blank.
const NAME_PATTERN: &str = r"^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$";

/// A shape of ids: the prefix and a UUID. Where its dashes stand is not said: a model reads each pattern with every list,
/// and an id with a dash misplaced is not found.
macro_rules! id_pattern {
    ($prefix:literal) => {
        concat!("^", $prefix, "-[0-9a-f-]{36}$")
    };
}
use id_pattern;
