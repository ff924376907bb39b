//! The file that marks a data folder as one of ours, so that nobody else's is written to.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use super::{private, sync_folder};

const NAME: &str = "ONEPOST.TAG";
const TEXT: &str = "Onepost data folder, format 1. Its files belong together: copy, move or delete the folder as a whole.\n";

/// Whose a folder is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// It has our tag.
    Us,
    /// It is empty, or a crash left it with a part of our tag and nothing else.
    Nobody,
    /// It holds files and no tag.
    Others,
}

impl Owner {
    pub(super) fn of(folder: &Path) -> io::Result<Owner> {
        let mut others = false;
        // The names first: another process may be making the same folder just now, and its tag comes before the rest.
        for entry in fs::read_dir(folder)? {
            others |= entry?.file_name() != NAME;
        }
        let tag = match fs::read(folder.join(NAME)) {
            Ok(tag) => tag,
            Err(reason) if reason.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(_) => return Ok(Owner::Others),
        };
        Ok(if tag == TEXT.as_bytes() {
            Owner::Us
        } else if !others && TEXT.as_bytes().starts_with(&tag) {
            Owner::Nobody
        } else {
            Owner::Others
        })
    }
}

/// Marks a folder that is nobody's. On the disk before anything else is put into the folder.
pub(super) fn put(folder: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    // Two processes that do this at once write the same over each other.
    options.write(true).create(true).truncate(false);
    private(&mut options);
    let mut file = options.open(folder.join(NAME))?;
    file.write_all(TEXT.as_bytes())?;
    file.sync_all()?;
    sync_folder(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner_with(files: &[(&str, &str)]) -> Owner {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(dir.path().join(name), text).unwrap();
        }
        Owner::of(dir.path()).unwrap()
    }

    #[test]
    fn a_folder_is_ours_by_its_tag_alone() {
        assert_eq!(owner_with(&[(NAME, TEXT), ("notes.txt", "")]), Owner::Us);
        for name in ["lock", "dynamodb.db", ".gitignore", "secrets.json", "mail"] {
            assert_eq!(owner_with(&[(name, "")]), Owner::Others, "{name}");
        }
        assert_eq!(owner_with(&[(NAME, "another program's")]), Owner::Others);
    }

    #[test]
    fn a_crash_while_the_tag_is_written_leaves_a_folder_to_begin_with() {
        assert_eq!(owner_with(&[]), Owner::Nobody);
        for written in [0, 1, TEXT.len() - 1] {
            assert_eq!(owner_with(&[(NAME, &TEXT[..written])]), Owner::Nobody);
            assert_eq!(owner_with(&[(NAME, &TEXT[..written]), ("notes.txt", "")]), Owner::Others);
        }
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(NAME), &TEXT[..10]).unwrap();
        put(dir.path()).unwrap();
        assert_eq!(Owner::of(dir.path()).unwrap(), Owner::Us);
    }
}
