//! Several new files of a data folder at once, all or none, whatever happens between.
//!
//! They are written into `new.partial/`. Renaming that folder to `new.ready/` is the one moment that decides: a
//! crash before it leaves something to clear away, a crash after it something to finish, and opening the data folder
//! does either.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::{DYNAMODB, DYNAMODB_LOG, DataFolder, SECRETS, private_dir_builder, sync_folder};

const PARTIAL: &str = "new.partial";
const READY: &str = "new.ready";
const FILES: [&str; 2] = [DYNAMODB, SECRETS];

/// Files on their way into a data folder. Dropped before [`Staging::commit`], it leaves nothing behind.
pub(crate) struct Staging<'a> {
    folder: &'a DataFolder,
    path: PathBuf,
}

impl<'a> Staging<'a> {
    pub(crate) fn new(folder: &'a DataFolder) -> io::Result<Staging<'a>> {
        let path = folder.path.join(PARTIAL);
        private_dir_builder().create(&path)?;
        Ok(Staging { folder, path })
    }

    /// Where the new `dynamodb.db` is to be written.
    pub(crate) fn dynamodb(&self) -> PathBuf {
        self.path.join(DYNAMODB)
    }

    /// Where the new `secrets.json` is to be written.
    pub(crate) fn secrets(&self) -> PathBuf {
        self.path.join(SECRETS)
    }

    /// Puts the files into place. They must be closed.
    pub(crate) fn commit(self) -> io::Result<()> {
        if self.path.join(DYNAMODB_LOG).try_exists()? {
            return Err(io::Error::other("the new database did not close"));
        }
        for name in FILES {
            File::open(self.path.join(name))?.sync_all()?;
        }
        sync_folder(&self.path)?;
        fs::rename(&self.path, self.folder.path.join(READY))?;
        sync_folder(&self.folder.path)?;
        recover(&self.folder.path)
    }
}

impl Drop for Staging<'_> {
    fn drop(&mut self) {
        // After a commit there is no such folder any more.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Finishes what was decided, clears away what was not.
pub(super) fn recover(folder: &Path) -> io::Result<()> {
    let partial = folder.join(PARTIAL);
    if partial.try_exists()? {
        fs::remove_dir_all(partial)?;
    }
    let ready = folder.join(READY);
    if ready.try_exists()? {
        for name in FILES {
            let from = ready.join(name);
            // One that a first try has moved already is not there any more.
            if from.try_exists()? {
                fs::rename(from, folder.join(name))?;
            }
        }
        sync_folder(folder)?;
        fs::remove_dir_all(ready)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_crash_before_the_decision_leaves_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(dir.path()).unwrap();
        let staging = Staging::new(&folder).unwrap();
        fs::write(staging.dynamodb(), "tables").unwrap();
        std::mem::forget(staging);
        drop(folder);

        let folder = DataFolder::open(dir.path()).unwrap();
        assert!(!folder.holds_data().unwrap());
        assert_eq!(names(dir.path()), [".gitignore", "ONEPOST.TAG", "lock", "mail"]);
    }

    #[test]
    fn a_crash_after_the_decision_is_finished_at_the_next_start() {
        let dir = tempfile::tempdir().unwrap();
        drop(DataFolder::open(dir.path()).unwrap());
        // Decided, and one of the two files already moved.
        fs::create_dir(dir.path().join(READY)).unwrap();
        fs::write(dir.path().join(DYNAMODB), "tables").unwrap();
        fs::write(dir.path().join(READY).join(SECRETS), "secrets").unwrap();

        let folder = DataFolder::open(dir.path()).unwrap();
        assert_eq!(fs::read(folder.dynamodb()).unwrap(), b"tables");
        assert_eq!(fs::read(folder.secrets()).unwrap(), b"secrets");
        assert_eq!(names(dir.path()), [".gitignore", "ONEPOST.TAG", DYNAMODB, "lock", "mail", SECRETS]);
    }
}
