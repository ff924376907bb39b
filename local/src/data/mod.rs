//! The data folder: where the stack keeps everything, for one process at a time and for its owner alone.
//!
//! Its tables and its secrets are one unit (a key in a table is a hash with a secret's pepper): they come into the folder
//! together, and a folder with only one of the two is refused.

mod staging;
mod tag;

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

pub(crate) use staging::Staging;

use crate::Error;
use tag::Owner;

const LOCK: &str = "lock";
const DYNAMODB: &str = "dynamodb.db";
const DYNAMODB_LOG: &str = "dynamodb.db-wal";
const SECRETS: &str = "secrets.json";

/// An open data folder. While it lives, no other process (and no other part of this one) can open the same folder; the
/// operating system gives the lock back even when the process is killed.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    _lock: File,
}

impl DataFolder {
    /// Opens the folder, and makes it first where it is missing or empty: mode 700, with a `.gitignore` that keeps all of
    /// it out of a repository. What a crash left of new data is finished or cleared away.
    ///
    /// # Errors
    /// [`Error::FolderInUse`], [`Error::FolderForeign`] for a folder with somebody else's files, and
    /// [`Error::FolderUnusable`] for all that the operating system refuses.
    pub fn open(path: &Path) -> Result<DataFolder, Error> {
        private_dir_builder().recursive(true).create(path).map_err(|reason| unusable(path, reason))?;
        let path = absolute(path)?;
        match Owner::of(&path).map_err(|reason| unusable(&path, reason))? {
            Owner::Us => {}
            Owner::Nobody => tag::put(&path).map_err(|reason| unusable(&path, reason))?,
            Owner::Others => return Err(Error::FolderForeign { path }),
        }
        let folder = Self::enter(path)?;
        folder.furnish().map_err(|reason| unusable(&folder.path, reason))?;
        Ok(folder)
    }

    /// Opens a folder that must be there already. Nothing is put into one that is not ours.
    ///
    /// # Errors
    /// As [`DataFolder::open`], and [`Error::NoData`] where there is no such folder, or an empty one.
    pub fn open_existing(path: &Path) -> Result<DataFolder, Error> {
        if path.try_exists().is_ok_and(|exists| !exists) {
            return Err(Error::NoData { path: path.to_owned() });
        }
        let path = absolute(path)?;
        match Owner::of(&path).map_err(|reason| unusable(&path, reason))? {
            Owner::Us => Self::enter(path),
            Owner::Nobody => Err(Error::NoData { path }),
            Owner::Others => Err(Error::FolderForeign { path }),
        }
    }

    fn enter(path: PathBuf) -> Result<DataFolder, Error> {
        let lock = lock(&path)?;
        let folder = DataFolder { path, _lock: lock };
        staging::recover(&folder.path).map_err(|reason| unusable(&folder.path, reason))?;
        Ok(folder)
    }

    /// Where the folder is, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// DynamoDB's tables, one SQLite file (with SQLite's own `-wal` and `-shm` beside it while it is open).
    pub fn dynamodb(&self) -> PathBuf {
        self.path.join(DYNAMODB)
    }

    /// The secrets, as JSON in the clear: mode 600.
    pub fn secrets(&self) -> PathBuf {
        self.path.join(SECRETS)
    }

    /// What the stack serves and the keys that it made for trying it out: mode 600.
    pub fn endpoints(&self) -> PathBuf {
        self.path.join("endpoints.json")
    }

    /// Where the engines of the running stack listen: there while it runs, mode 600.
    pub fn engines(&self) -> PathBuf {
        self.path.join("engines.json")
    }

    /// The folder that mail is put into, in place of being sent.
    pub fn mail(&self) -> PathBuf {
        self.path.join("mail")
    }

    /// Whether the engines have kept anything here: both, or neither.
    ///
    /// # Errors
    /// [`Error::DataApart`] where one of the two files is there without the other.
    pub fn holds_data(&self) -> Result<bool, Error> {
        let is_there = |name| self.path.join(name).try_exists().map_err(|reason| unusable(&self.path, reason));
        let missing = match (is_there(DYNAMODB)?, is_there(SECRETS)?) {
            (true, true) => return Ok(true),
            (true, false) => format!("{SECRETS}, without which {DYNAMODB} is of no use,"),
            (false, true) => format!("{DYNAMODB}, to which {SECRETS} belongs,"),
            // A new file in its place would be read with the log of the old one.
            (false, false) if is_there(DYNAMODB_LOG)? => format!("{DYNAMODB}, to which {DYNAMODB_LOG} belongs,"),
            (false, false) => return Ok(false),
        };
        Err(Error::DataApart { path: self.path.clone(), missing })
    }

    fn furnish(&self) -> io::Result<()> {
        let ignore = OpenOptions::new().write(true).create_new(true).open(self.path.join(".gitignore"));
        match ignore {
            Ok(mut file) => file.write_all(b"*\n")?,
            Err(reason) if reason.kind() == io::ErrorKind::AlreadyExists => {}
            Err(reason) => return Err(reason),
        }
        private_dir_builder().recursive(true).create(self.mail())
    }
}

/// Writes a file that only its owner can read (mode 600), whole or not at all: a reader, and a crash at any moment, find
/// the old contents or the new ones.
///
/// # Errors
/// [`Error::FileUnusable`] with what the operating system says; the old contents are then still there.
pub fn write_private(path: &Path, contents: &[u8]) -> Result<(), Error> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    let temporary = path.with_file_name(name);
    let write = || {
        // One left by a crash; a new one is made, so that its mode is ours.
        let _ = fs::remove_file(&temporary);
        let mut file = create_private(&temporary)?;
        file.write_all(contents)?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        sync_folder(path.parent().unwrap_or(Path::new(".")))
    };
    write().map_err(|reason| {
        let _ = fs::remove_file(&temporary);
        Error::FileUnusable { path: path.to_owned(), reason }
    })
}

/// Makes a new file of mode 600. Fails where there is one.
pub fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    private(&mut options);
    options.open(path)
}

/// Makes a folder's entries durable: a rename is on the disk only after this.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    // Only Unix can open a folder; elsewhere a rename is durable on its own terms.
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

/// SQLite would read a path that begins with "file:" as a URI.
fn absolute(path: &Path) -> Result<PathBuf, Error> {
    fs::canonicalize(path).map_err(|reason| unusable(path, reason))
}

fn lock(folder: &Path) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    private(&mut options);
    let mut file = options.open(folder.join(LOCK)).map_err(|reason| unusable(folder, reason))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            return Err(Error::FolderInUse { path: folder.to_owned(), pid: holder.trim().parse().ok() });
        }
        Err(TryLockError::Error(reason)) => return Err(unusable(folder, reason)),
    }
    // Another file of this name, put among ours.
    let mut holder = String::new();
    let is_ours = file.read_to_string(&mut holder).is_ok() && holder.bytes().all(|byte| byte.is_ascii_digit());
    if !is_ours {
        return Err(Error::FolderForeign { path: folder.to_owned() });
    }
    // For the message of whoever finds the folder in use; the lock itself is the operating system's.
    file.set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| write!(file, "{}", std::process::id()))
        .map_err(|reason| unusable(folder, reason))?;
    Ok(file)
}

fn private_dir_builder() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "modes are a matter of Unix"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

fn private(options: &mut OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    #[cfg(not(unix))]
    let _ = options;
}

fn unusable(path: &Path, reason: io::Error) -> Error {
    Error::FolderUnusable { path: path.to_owned(), reason }
}
