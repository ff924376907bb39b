//! Refusing what would cost too much to look into.

use std::io;

use serde::Serialize;
use serde_json::Value;

use super::report::{Path, Report};
use crate::template::MAX_DOCUMENT_BYTES;

/// Most levels of nesting. The deepest rule of the schema needs 20; the rest is for the author's own members.
const MAX_DEPTH: usize = 32;

/// Checks depth and size. Takes time in proportion to the document, and stops where it is too deep or too long.
pub(super) fn check(document: &Value, report: &mut Report) {
    if !is_shallow(document, MAX_DEPTH) {
        report.add(&Path::root(), "V7", || format!("Nest at most {MAX_DEPTH} levels of objects and lists."));
        return;
    }
    check_size(document, report);
}

/// Checks the length of the compact JSON.
pub(super) fn check_size(document: &impl Serialize, report: &mut Report) {
    let mut room = Room(MAX_DOCUMENT_BYTES);
    // Writing into what only counts fails for one reason: there was no room left.
    if serde_json::to_writer(&mut room, document).is_err() {
        let kibibytes = MAX_DOCUMENT_BYTES / 1024;
        report.add(&Path::root(), "V7", || format!("Shorten the template to at most {kibibytes} KiB of compact JSON."));
    }
}

fn is_shallow(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| is_shallow(item, levels - 1)),
        Value::Object(members) => levels > 0 && members.values().all(|member| is_shallow(member, levels - 1)),
        _ => true,
    }
}

/// Counts bytes instead of keeping them.
struct Room(usize);

impl io::Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::WriteZero)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
