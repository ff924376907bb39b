//! Out of a data folder.

use std::io::Write;
use std::path::Path;

use dynoxide::actions::describe_table::DescribeTableRequest;
use dynoxide::actions::list_tags_of_resource::ListTagsOfResourceRequest;
use dynoxide::actions::scan::ScanRequest;
use dynoxide::{Database, DynoxideError, TableMetadata};
use ring::digest;
use serde::Serialize;
use serde_json::{Value, json};

use super::{End, FORMAT, Header, Line, SecretLine, SecretVersionLine, TableDefinition, Totals, hex};
use crate::Error;
use crate::data::DataFolder;
use crate::engines::dynamodb;
use crate::engines::secrets::SecretStore;
use crate::error::one_line;

/// Writes all tables and all secrets of a stopped stack, secrets in the clear. The same data gives the same lines, but
/// for the time in the first. Blocks.
///
/// # Errors
/// [`Error::FolderInUse`] while a stack runs on the folder, [`Error::NoData`] where there is nothing,
/// [`Error::DataApart`], [`Error::DataFileBroken`], [`Error::Output`].
pub fn export(folder: &Path, out: impl Write) -> Result<Totals, Error> {
    let folder = DataFolder::open_existing(folder)?;
    if !folder.holds_data()? {
        return Err(Error::NoData { path: folder.path().to_owned() });
    }
    let mut lines = Lines { out, digest: digest::Context::new(&digest::SHA256) };
    let mut totals = Totals::default();
    lines.write(&Header { onepost_export: FORMAT, exported_at: Some(jiff::Timestamp::now().to_string()) })?;
    tables(&dynamodb::open(&folder.dynamodb())?, &mut lines, &mut totals)?;
    secrets(&SecretStore::open(folder.secrets())?, &mut lines, &mut totals)?;
    lines.end(&totals)?;
    Ok(totals)
}

fn tables(database: &Database, lines: &mut Lines<impl Write>, totals: &mut Totals) -> Result<(), Error> {
    let mut names: Vec<_> = database.table_stats().map_err(failed)?.into_iter().map(|table| table.table_name).collect();
    names.sort();
    for name in names {
        let metadata = database
            .get_table_metadata(&name)
            .map_err(failed)?
            .ok_or_else(|| broken(format!("the table {name} is listed and not described")))?;
        let definition = TableDefinition {
            ttl_attribute: metadata.ttl_attribute.clone().filter(|_| metadata.ttl_enabled),
            create: create_table(database, &metadata)?,
        };
        lines.write(&Line { table_definition: Some(definition), ..Line::default() })?;
        totals.tables += 1;
        totals.items += items(database, &name, lines)?;
    }
    Ok(())
}

fn items(database: &Database, table: &str, lines: &mut Lines<impl Write>) -> Result<u64, Error> {
    let mut written = 0;
    let mut after = None;
    loop {
        let request = ScanRequest { table_name: table.to_owned(), exclusive_start_key: after, ..ScanRequest::default() };
        let page = database.scan(request).map_err(failed)?;
        for item in page.items.unwrap_or_default() {
            lines.write(&Line { table: Some(table.to_owned()), item: Some(item), ..Line::default() })?;
            written += 1;
        }
        after = page.last_evaluated_key;
        if after.is_none() {
            return Ok(written);
        }
    }
}

/// The arguments that make the same table again.
fn create_table(database: &Database, table: &TableMetadata) -> Result<Value, Error> {
    let mut create = json!({
        "TableName": table.table_name,
        "KeySchema": stored(&table.key_schema)?,
        "AttributeDefinitions": stored(&table.attribute_definitions)?,
        "BillingMode": table.billing_mode,
        "TableClass": table.table_class,
    });
    for (argument, json) in [
        ("GlobalSecondaryIndexes", &table.gsi_definitions),
        ("LocalSecondaryIndexes", &table.lsi_definitions),
        ("VectorIndexes", &table.vector_index_definitions),
        ("ProvisionedThroughput", &table.provisioned_throughput),
        ("SSESpecification", &table.sse_specification),
        ("OnDemandThroughput", &table.on_demand_throughput),
    ] {
        if let Some(json) = json {
            create[argument] = stored(json)?;
        }
    }
    if table.deletion_protection_enabled {
        create["DeletionProtectionEnabled"] = true.into();
    }
    if table.stream_enabled {
        create["StreamSpecification"] = json!({ "StreamEnabled": true, "StreamViewType": table.stream_view_type });
    }
    let tags = tags(database, &table.table_name)?;
    if !tags.is_empty() {
        create["Tags"] = tags.into();
    }
    Ok(without_nulls(create))
}

fn tags(database: &Database, table: &str) -> Result<Vec<Value>, Error> {
    let description = database.describe_table(DescribeTableRequest { table_name: table.to_owned() }).map_err(failed)?;
    let request = ListTagsOfResourceRequest { resource_arn: Some(description.table.table_arn) };
    let tags = database.list_tags_of_resource(request).map_err(failed)?.tags;
    tags.into_iter().map(|tag| serde_json::to_value(tag).map_err(|error| broken(one_line(error)))).collect()
}

/// The engine keeps parts of a definition as JSON text, in the shape of the request.
fn stored(json: &str) -> Result<Value, Error> {
    serde_json::from_str(json).map_err(|error| broken(one_line(error)))
}

/// An absent argument and `null` mean the same to the engine's store, and not to `CreateTable`.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            fields.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name, without_nulls(value))).collect()
        }
        Value::Array(values) => values.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

fn secrets(store: &SecretStore, lines: &mut Lines<impl Write>, totals: &mut Totals) -> Result<(), Error> {
    for secret in store.all() {
        let line = SecretLine {
            name: secret.name.clone(),
            arn: secret.arn,
            description: secret.description,
            created_ms: secret.created_ms,
            changed_ms: secret.changed_ms,
        };
        lines.write(&Line { secret: Some(line), ..Line::default() })?;
        totals.secrets += 1;
        for version in secret.versions {
            let line = SecretVersionLine {
                secret: secret.name.clone(),
                id: version.id,
                stages: version.stages,
                created_ms: version.created_ms,
                value: version.value,
            };
            lines.write(&Line { secret_version: Some(line), ..Line::default() })?;
            totals.secret_versions += 1;
        }
    }
    Ok(())
}

struct Lines<W> {
    out: W,
    digest: digest::Context,
}

impl<W: Write> Lines<W> {
    fn write(&mut self, line: &impl Serialize) -> Result<(), Error> {
        let mut value = serde_json::to_value(line).map_err(|error| broken(one_line(error)))?;
        // An item's maps come in no order. Everything else keeps the order in which it is best read.
        if let Some(item) = value.get_mut("item") {
            item.sort_all_objects();
        }
        let bytes = format!("{value}\n").into_bytes();
        self.digest.update(&bytes);
        self.out.write_all(&bytes).map_err(Error::Output)
    }

    fn end(mut self, totals: &Totals) -> Result<(), Error> {
        let sha256 = hex(self.digest.clone().finish());
        self.write(&Line { end: Some(End::new(totals, sha256)), ..Line::default() })?;
        self.out.flush().map_err(Error::Output)
    }
}

fn failed(reason: DynoxideError) -> Error {
    broken(one_line(reason))
}

fn broken(reason: String) -> Error {
    Error::Engine { engine: "DynamoDB", reason }
}
