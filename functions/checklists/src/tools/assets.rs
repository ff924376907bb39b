//! Assets: list, get, create, update, delete.

use jiff::Timestamp;
use onepost_core::catalog::{Call, Hints, Nulls, Reply, Tool, ToolSpec};
use onepost_core::error::ToolError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NAME_PATTERN, cursor, id_pattern};
use crate::assets::{Asset, Fields, new_fields};
use crate::store::asset_not_found;
use crate::{Caller, Checklists};

const DEFAULT_PAGE: usize = 50;

/// What a page of assets may weigh, in bytes of JSON: many models take no more than 25,000 tokens.
const PAGE_SIZE: usize = 64 * 1024;

/// An asset as the tools show it.
#[derive(Serialize, JsonSchema)]
pub struct AssetOutput {
    /// Its id: a- and a UUID.
    id: String,
    /// Its name.
    name: String,
    /// Its free-form fields.
    fields: Fields,
    /// When it was made, in UTC.
    #[schemars(with = "String")]
    created_at: Timestamp,
    /// When its name or fields last changed, in UTC.
    #[schemars(with = "String")]
    updated_at: Timestamp,
}

impl From<Asset> for AssetOutput {
    fn from(asset: Asset) -> Self {
        let Asset { id, name, fields, created_at, updated_at } = asset;
        Self { id, name, fields, created_at, updated_at }
    }
}

/// Names one asset.
#[derive(Deserialize, JsonSchema)]
pub struct AssetId {
    /// The asset's id, as list_assets and create_asset give it.
    #[schemars(regex(pattern = id_pattern!("a")))]
    asset_id: String,
}

/// `list_assets`
pub struct ListAssets;

/// Arguments of `list_assets`.
#[derive(Deserialize, JsonSchema)]
pub struct ListAssetsArgs {
    /// How many assets to answer at most. 50 when left out. A page of large assets may hold fewer.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
    /// The next_cursor of the page before. Left out, the first page.
    #[schemars(length(min = 1, max = 512))]
    cursor: Option<String>,
}

/// Result of `list_assets`.
#[derive(Serialize, JsonSchema)]
pub struct AssetPage {
    /// The assets of this page, newest first.
    data: Vec<AssetOutput>,
    /// What to pass as cursor for the next page, or null after the last one.
    next_cursor: Option<String>,
}

impl Tool for ListAssets {
    type Product = Checklists;
    type Args = ListAssetsArgs;
    type Output = AssetPage;
    const SPEC: ToolSpec = ToolSpec {
        name: "list_assets",
        title: "List assets",
        description: "The assets of your organisation (flats, vehicles, machines: whatever checklists are run for), newest first, with all \
                      their fields. Answers one page; while next_cursor is not null there are more. A cursor is good for 24 hours and for \
                      this tool alone.",
        hints: Hints::READ,
        narrowed_by: Some("limit"),
        ..ToolSpec::STRICT
    };

    async fn call(product: &Checklists, call: Call<'_, Caller>, args: ListAssetsArgs) -> Result<Reply<AssetPage>, ToolError> {
        let org = call.caller.org();
        let open = |cursor: String| cursor::open(product, org, Self::SPEC.name, call.now, &cursor);
        let after = args.cursor.map(open).transpose()?;
        let page = product.store.assets(org, args.limit.unwrap_or(DEFAULT_PAGE), after).await?;
        let whole = page.items.len();
        let data = as_many_as_fit(page.items);
        let next = if data.len() < whole { data.last().map(|asset| asset.id.clone()) } else { page.next };
        let next_cursor = next.map(|place| cursor::seal(product, org, Self::SPEC.name, call.now, &place));
        Ok(AssetPage { data: data.into_iter().map(AssetOutput::from).collect(), next_cursor }.into())
    }
}

/// The first assets that fit into one page; at least one.
fn as_many_as_fit(assets: Vec<Asset>) -> Vec<Asset> {
    let mut size = 0;
    let fits = |asset: &Asset| {
        let before = size;
        size += serde_json::to_string(asset).map_or(0, |text| text.len());
        before == 0 || size <= PAGE_SIZE
    };
    assets.into_iter().take_while(fits).collect()
}

/// `get_asset`
pub struct GetAsset;

/// Result of `get_asset`.
#[derive(Serialize, JsonSchema)]
pub struct AssetDetails {
    /// The asset.
    #[serde(flatten)]
    asset: AssetOutput,
    /// How many of its runs are pending or in progress; while there is one, the asset cannot be deleted.
    active_runs: u64,
}

impl Tool for GetAsset {
    type Product = Checklists;
    type Args = AssetId;
    type Output = AssetDetails;
    const SPEC: ToolSpec = ToolSpec {
        name: "get_asset",
        title: "Get an asset",
        description: "Answers one asset by its id: name, fields, and how many of its runs can still be completed.",
        hints: Hints::READ,
        ..ToolSpec::STRICT
    };

    async fn call(product: &Checklists, call: Call<'_, Caller>, args: AssetId) -> Result<Reply<AssetDetails>, ToolError> {
        let found = product.store.asset_with_active_runs(call.caller.org(), &args.asset_id, call.now).await?;
        let (asset, active_runs) = found.ok_or_else(asset_not_found)?;
        Ok(AssetDetails { asset: asset.into(), active_runs }.into())
    }
}

/// `create_asset`
pub struct CreateAsset;

/// Arguments of `create_asset`.
#[derive(Deserialize, JsonSchema)]
pub struct CreateAssetArgs {
    /// What people call it.
    #[schemars(length(min = 1, max = 200), regex(pattern = NAME_PATTERN))]
    name: String,
    /// Free-form facts, such as {"plate": "AB 123", "seats": 5}. Up to 50 fields of text (2,000 characters), number, true or false;
    /// 16 KiB together. Names begin with a letter and have up to 64 letters, digits, blanks, _ or -.
    #[schemars(extend("maxProperties" = 50))]
    fields: Option<Fields>,
}

impl Tool for CreateAsset {
    type Product = Checklists;
    type Args = CreateAssetArgs;
    type Output = AssetOutput;
    const SPEC: ToolSpec = ToolSpec {
        name: "create_asset",
        title: "Create an asset",
        description: "Adds an asset that runs can be dispatched for, and answers it with its id. The id lives until delete_asset. Every call \
                      makes another asset, also for a name that exists, and counts against the plan's assets.",
        hints: Hints::CREATE,
        ..ToolSpec::STRICT
    };

    async fn call(product: &Checklists, call: Call<'_, Caller>, args: CreateAssetArgs) -> Result<Reply<AssetOutput>, ToolError> {
        let fields = new_fields(args.fields)?;
        let id = product.ids.time_ordered("a", call.now);
        let asset = Asset { id, name: args.name, fields, created_at: call.now, updated_at: call.now };
        product.store.add_asset(call.caller.org(), &asset, call.now).await?;
        Ok(AssetOutput::from(asset).into())
    }
}

/// `update_asset`
pub struct UpdateAsset;

/// Arguments of `update_asset`.
#[derive(Deserialize, JsonSchema)]
pub struct UpdateAssetArgs {
    /// The asset's id, as list_assets and create_asset give it.
    #[schemars(regex(pattern = id_pattern!("a")))]
    asset_id: String,
    /// A new name. Left out, the name stays.
    #[schemars(length(min = 1, max = 200), regex(pattern = NAME_PATTERN))]
    name: Option<String>,
    /// Fields to add or change; null removes a field; fields not named here stay. The limits of create_asset hold for the outcome.
    #[schemars(extend("maxProperties" = 100))]
    fields: Option<Fields>,
}

impl Tool for UpdateAsset {
    type Product = Checklists;
    type Args = UpdateAssetArgs;
    type Output = AssetOutput;
    const SPEC: ToolSpec = ToolSpec {
        name: "update_asset",
        title: "Update an asset",
        description: "Changes an asset's name, or adds, changes and removes single fields, and answers the whole asset as it is then. Fields \
                      are merged into those that are there. Runs dispatched before keep the asset as it was.",
        hints: Hints::REPLACE,
        nulls: Nulls::Refused,
        ..ToolSpec::STRICT
    };

    async fn call(product: &Checklists, call: Call<'_, Caller>, args: UpdateAssetArgs) -> Result<Reply<AssetOutput>, ToolError> {
        let UpdateAssetArgs { asset_id, name, fields } = args;
        if name.is_none() && fields.is_none() {
            return Err(ToolError::invalid("invalid_argument", "Nothing to change: give name, fields or both."));
        }
        let updated = product.store.update_asset(call.caller.org(), &asset_id, name, fields, call.now).await?;
        Ok(AssetOutput::from(updated.ok_or_else(asset_not_found)?).into())
    }
}

/// `delete_asset`
pub struct DeleteAsset;

/// Result of `delete_asset`.
#[derive(Serialize, JsonSchema)]
pub struct DeletedAsset {
    /// Always true.
    deleted: bool,
    /// The asset that was deleted.
    asset_id: String,
}

impl Tool for DeleteAsset {
    type Product = Checklists;
    type Args = AssetId;
    type Output = DeletedAsset;
    const SPEC: ToolSpec = ToolSpec {
        name: "delete_asset",
        title: "Delete an asset",
        description: "Deletes an asset for good and answers its id. Refused with asset_has_active_runs while one of its runs is pending or in \
                      progress. Runs that ended keep their copy of it.",
        hints: Hints::REPLACE,
        ..ToolSpec::STRICT
    };

    async fn call(product: &Checklists, call: Call<'_, Caller>, args: AssetId) -> Result<Reply<DeletedAsset>, ToolError> {
        product.store.delete_asset(&call.caller.must_hold_the_key(call.now), &args.asset_id).await?;
        Ok(DeletedAsset { deleted: true, asset_id: args.asset_id }.into())
    }
}
