//! Into a data folder that has none: all of an export, or nothing.

use std::collections::HashSet;
use std::io::{BufRead, Read};
use std::path::Path;

use dynoxide::Database;
use dynoxide::actions::put_item::PutItemRequest;
use dynoxide::actions::update_time_to_live::{TimeToLiveSpecification, UpdateTimeToLiveRequest};
use ring::digest;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use super::{End, FORMAT, Header, Line, SecretLine, SecretVersionLine, TableDefinition, Totals, hex};
use crate::Error;
use crate::data::{DataFolder, Staging};
use crate::engines::dynamodb;
use crate::engines::secrets::{Secret, SecretStore, Version};
use crate::error::one_line;

/// The longest line, in bytes: an item of 400 KB is at most six times that as JSON, by its escapes.
const MAX_LINE: u64 = 8 * 1024 * 1024;

/// Reads an export into a folder that holds no data, made where it is missing. The data appears in it at once, when the
/// export has been read to its end and found whole. Blocks.
///
/// # Errors
/// [`Error::FolderInUse`], [`Error::HasData`], [`Error::DataApart`], [`Error::BadExport`] with the line at fault, [`Error::Input`].
pub fn import(folder: &Path, input: impl BufRead) -> Result<Totals, Error> {
    let folder = DataFolder::open(folder)?;
    if folder.holds_data()? {
        return Err(Error::HasData { path: folder.path().to_owned() });
    }
    let unusable = |reason| Error::FolderUnusable { path: folder.path().to_owned(), reason };
    let staging = Staging::new(&folder).map_err(unusable)?;
    let totals = load(&staging, input)?;
    staging.commit().map_err(unusable)?;
    Ok(totals)
}

fn load(staging: &Staging<'_>, input: impl BufRead) -> Result<Totals, Error> {
    let mut lines = Lines { input, number: 0, digest: digest::Context::new(&digest::SHA256) };
    let header = lines.next()?.ok_or_else(|| bad(1, "is missing: the file is empty"))?;
    check_header(&header)?;

    let database = dynamodb::create(&staging.dynamodb())?;
    // Without waiting for the disk at each item: the file counts only once it is whole, and is synced then.
    database.enable_bulk_loading().map_err(|reason| failed(one_line(reason)))?;
    let mut loading = Loading { database, secrets: Vec::new(), totals: Totals::default(), tables: HashSet::new() };
    loop {
        let before = lines.digest.clone();
        let Some(bytes) = lines.next()? else {
            return Err(bad(lines.number + 1, "is missing: the file is cut off before its last line, which counts the others"));
        };
        let number = lines.number;
        let line: Line = parse(number, &bytes)?;
        if let Some(end) = loading.take(number, line)? {
            check_end(number, &end, &loading.totals, before)?;
            if lines.next()?.is_some() {
                return Err(bad(lines.number, "comes after the last line of the export"));
            }
            return loading.finish(number, staging);
        }
    }
}

fn check_header(bytes: &[u8]) -> Result<(), Error> {
    let header: Header = serde_json::from_slice(bytes).map_err(|_| bad(1, "is not the first line of a Onepost export"))?;
    if header.onepost_export != FORMAT {
        let reason =
            format!("says that the export is of format {}, and this version of Onepost knows format {FORMAT}", header.onepost_export);
        return Err(bad(1, reason));
    }
    Ok(())
}

fn check_end(number: u64, end: &End, found: &Totals, before: digest::Context) -> Result<(), Error> {
    let told = end.totals();
    if told != *found {
        let count = |totals: &Totals| {
            let Totals { tables, items, secrets, secret_versions } = totals;
            format!("{tables} tables, {items} items, {secrets} secrets and {secret_versions} secret versions")
        };
        return Err(bad(number, format!("counts {}, and there are {}", count(&told), count(found))));
    }
    match &end.sha256 {
        Some(sha256) if *sha256 != hex(before.finish()) => {
            let reason = "says that a line before it has been changed since the export (if that was on purpose, take \
                          \"sha256\" out of this line)";
            Err(bad(number, reason))
        }
        _ => Ok(()),
    }
}

struct Loading {
    database: Database,
    tables: HashSet<String>,
    secrets: Vec<Secret>,
    totals: Totals,
}

impl Loading {
    /// Takes a line in. The last line is given back.
    fn take(&mut self, number: u64, line: Line) -> Result<Option<End>, Error> {
        match line {
            Line { table_definition: Some(definition), table: None, item: None, secret: None, secret_version: None, end: None } => {
                self.table(number, definition)?;
            }
            Line { table_definition: None, table: Some(table), item: Some(item), secret: None, secret_version: None, end: None } => {
                if !self.tables.contains(&table) {
                    return Err(bad(number, "holds an item of a table that is not defined above it"));
                }
                let request = PutItemRequest { table_name: table, item, ..PutItemRequest::default() };
                self.database.put_item(request).map_err(|reason| refused(number, reason))?;
                self.totals.items += 1;
            }
            Line { table_definition: None, table: None, item: None, secret: Some(secret), secret_version: None, end: None } => {
                self.secret(number, secret)?;
            }
            Line { table_definition: None, table: None, item: None, secret: None, secret_version: Some(version), end: None } => {
                self.secret_version(number, version)?;
            }
            Line { table_definition: None, table: None, item: None, secret: None, secret_version: None, end: Some(end) } => {
                return Ok(Some(end));
            }
            _ => return Err(bad(number, "is not a line of an export")),
        }
        Ok(None)
    }

    fn table(&mut self, number: u64, definition: TableDefinition) -> Result<(), Error> {
        let request = serde_json::from_value(definition.create).map_err(|reason| refused(number, reason))?;
        let created = self.database.create_table(request).map_err(|reason| refused(number, reason))?;
        let name = created.table_description.table_name;
        if let Some(attribute_name) = definition.ttl_attribute {
            let request = UpdateTimeToLiveRequest {
                table_name: name.clone(),
                time_to_live_specification: TimeToLiveSpecification { attribute_name, enabled: true },
            };
            self.database.update_time_to_live(request).map_err(|reason| refused(number, reason))?;
        }
        self.tables.insert(name);
        self.totals.tables += 1;
        Ok(())
    }

    fn secret(&mut self, number: u64, line: SecretLine) -> Result<(), Error> {
        if self.secrets.iter().any(|secret| secret.name == line.name || secret.arn == line.arn) {
            return Err(bad(number, "holds a secret for the second time"));
        }
        let SecretLine { name, arn, description, created_ms, changed_ms } = line;
        let secret = Secret { name, arn, description, created_ms, changed_ms, versions: Vec::new() };
        secret.check().map_err(|fault| bad(number, format!("holds a secret that {fault}")))?;
        self.secrets.push(secret);
        self.totals.secrets += 1;
        Ok(())
    }

    fn secret_version(&mut self, number: u64, line: SecretVersionLine) -> Result<(), Error> {
        let secret = self
            .secrets
            .iter_mut()
            .find(|secret| secret.name == line.secret)
            .ok_or_else(|| bad(number, "holds a version of a secret that is not above it"))?;
        let taken = |version: &Version| version.id == line.id || version.stages.iter().any(|stage| line.stages.contains(stage));
        if secret.versions.iter().any(taken) {
            return Err(bad(number, "holds a version, or a label, of a secret for the second time"));
        }
        let SecretVersionLine { id, stages, created_ms, value, .. } = line;
        secret.versions.push(Version { id, stages, created_ms, value });
        self.totals.secret_versions += 1;
        Ok(())
    }

    /// Writes the secrets and closes the database.
    fn finish(self, last: u64, staging: &Staging<'_>) -> Result<Totals, Error> {
        let stored: i64 =
            self.database.table_stats().map_err(|reason| failed(one_line(reason)))?.iter().map(|table| table.item_count).sum();
        if stored.unsigned_abs() != self.totals.items {
            return Err(bad(last, "ends an export that holds an item twice"));
        }
        SecretStore::open(staging.secrets())?.replace_all(self.secrets)?;
        Ok(self.totals)
    }
}

struct Lines<R> {
    input: R,
    number: u64,
    digest: digest::Context,
}

impl<R: BufRead> Lines<R> {
    /// The next line with its end, counted and digested; none at the end.
    fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let mut line = Vec::new();
        self.input.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut line).map_err(Error::Input)?;
        if line.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        if line.len() as u64 > MAX_LINE {
            return Err(bad(self.number, format!("is longer than {MAX_LINE} bytes")));
        }
        self.digest.update(&line);
        Ok(Some(line))
    }
}

/// The parser's own message is not passed on: it quotes what it met, which may be a secret.
fn parse<T: DeserializeOwned>(number: u64, line: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(line).map_err(|error| match error.classify() {
        Category::Data => bad(number, "is not a line of an export"),
        _ => bad(number, format!("is not whole JSON (column {})", error.column())),
    })
}

fn refused(number: u64, reason: impl ToString) -> Error {
    // The engine marks its validation messages where it reads a request from JSON.
    let reason = one_line(reason);
    bad(number, format!("was refused: {}", reason.trim_start_matches("VALIDATION:")))
}

fn bad(line: u64, reason: impl Into<String>) -> Error {
    Error::BadExport { line, reason: reason.into() }
}

fn failed(reason: String) -> Error {
    Error::Engine { engine: "DynamoDB", reason }
}
