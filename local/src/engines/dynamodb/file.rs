//! The file that holds the tables: whether it is whole, told in words before anything is served from it.
//!
//! SQLite by itself finds damage at the first read that meets it, and takes an empty file for a new database. A file is
//! therefore never made empty in its place (so an empty one is a damaged one), and checked before it is used.

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use dynoxide::Database;

use crate::Error;
use crate::data::{create_private, sync_folder};
use crate::error::one_line;

/// Opens the file, and makes it first where there is none.
pub(super) fn open_or_create(path: &Path) -> Result<Database, Error> {
    if path.try_exists().map_err(|reason| unusable(path, reason))? { open(path) } else { create(path) }
}

/// Makes a new file of mode 600 with no table in it, and opens it.
pub(crate) fn create(path: &Path) -> Result<Database, Error> {
    if with_suffix(path, "-wal").exists() {
        return Err(broken(path, "it is gone, and the log of its last changes is not"));
    }
    let new = with_suffix(path, ".new");
    let make = || {
        for left_by_a_crash in [new.clone(), with_suffix(&new, "-wal"), with_suffix(&new, "-shm")] {
            match fs::remove_file(left_by_a_crash) {
                Err(reason) if reason.kind() != io::ErrorKind::NotFound => return Err(reason),
                _ => {}
            }
        }
        // SQLite gives its log the mode of the file it belongs to.
        drop(create_private(&new)?);
        Ok(())
    };
    make().map_err(|reason| unusable(path, reason))?;
    drop(database(&new)?);
    let place = || {
        fs::File::open(&new)?.sync_all()?;
        fs::rename(&new, path)?;
        sync_folder(path.parent().unwrap_or(Path::new(".")))
    };
    place().map_err(|reason| unusable(path, reason))?;
    database(path)
}

/// Opens a file that must be there and be whole.
pub(crate) fn open(path: &Path) -> Result<Database, Error> {
    check_outside(path)?;
    check_inside(path)?;
    database(path)
}

fn database(path: &Path) -> Result<Database, Error> {
    Database::new(utf8(path)?).map_err(|reason| broken(path, one_line(reason)))
}

/// What can be told without SQLite: what stands in the file's place, its header, its length.
fn check_outside(path: &Path) -> Result<(), Error> {
    let kind = fs::metadata(path).map_err(|reason| unusable(path, reason))?;
    if kind.is_dir() {
        return Err(broken(path, "it is a folder"));
    }
    if !kind.is_file() {
        return Err(broken(path, "it is not a regular file"));
    }
    let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(|reason| unusable(path, reason))?;
    let mut header = [0; 100];
    match file.read_exact(&mut header) {
        Ok(()) => {}
        Err(reason) if reason.kind() == io::ErrorKind::UnexpectedEof => {
            return Err(broken(path, "it was cut off"));
        }
        Err(reason) => return Err(unusable(path, reason)),
    }
    if !header.starts_with(b"SQLite format 3\0") {
        return Err(broken(path, "it is not a SQLite database"));
    }
    // SQLite's file format, 1.3: the page size is a power of two, 1 standing for 65536; the page count is valid
    // while the two change counters agree.
    let page_size = match u64::from(u16::from_be_bytes([header[16], header[17]])) {
        1 => 65536,
        size => size,
    };
    let field = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let expected = page_size * u64::from(field(28));
    // With changes still in the log, the log says how long the file is to be.
    let log_is_empty = fs::metadata(with_suffix(path, "-wal")).map_or(true, |log| log.len() == 0);
    if log_is_empty && field(24) == field(92) && kind.len() < expected {
        return Err(broken(path, format!("it was cut off ({} of {expected} bytes)", kind.len())));
    }
    Ok(())
}

/// What only SQLite can tell, having merged its log: that each page is what the others say it is.
fn check_inside(path: &Path) -> Result<(), Error> {
    let storage = dynoxide::storage::Storage::new(utf8(path)?).map_err(|reason| broken(path, one_line(reason)))?;
    let verdict: String =
        storage.conn().query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(|reason| broken(path, one_line(reason)))?;
    if verdict == "ok" { Ok(()) } else { Err(broken(path, one_line(verdict))) }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn utf8(path: &Path) -> Result<&str, Error> {
    path.to_str().ok_or_else(|| unusable(path, io::Error::new(io::ErrorKind::InvalidInput, "its path is not valid UTF-8")))
}

fn broken(path: &Path, reason: impl Into<String>) -> Error {
    Error::DataFileBroken { path: path.to_owned(), reason: reason.into() }
}

fn unusable(path: &Path, reason: io::Error) -> Error {
    Error::FileUnusable { path: path.to_owned(), reason }
}
