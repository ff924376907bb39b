//! Cursors of lists: sealed, and good for the same list of the same organisation alone.

use jiff::Timestamp;
use onepost_core::auth::Org;
use onepost_core::error::ToolError;
use onepost_core::seal::{self, CURSOR_LIFETIME, Purpose};

use crate::Checklists;

/// Seals the place to continue after.
pub(super) fn seal(product: &Checklists, org: &Org, list: &str, now: Timestamp, place: &str) -> String {
    let until = now + CURSOR_LIFETIME;
    seal::seal(&product.peppers, &product.ids, Purpose::Cursor(org), list, until, place.as_bytes())
}

/// Opens a cursor that this list gave out.
pub(super) fn open(product: &Checklists, org: &Org, list: &str, now: Timestamp, cursor: &str) -> Result<String, ToolError> {
    let place = seal::open(&product.peppers, Purpose::Cursor(org), list, now, cursor).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    place.ok_or_else(|| {
        let message =
            format!("This cursor is not one that {list} gave out in the last 24 hours. Leave cursor out to begin with the first page.");
        ToolError::invalid("invalid_cursor", message)
    })
}
