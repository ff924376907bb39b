//! What may go wrong, each as the one line that the person at the terminal reads.

use std::io;
use std::path::{Path, PathBuf};

/// A failure of the local stack. Its `Display` is a single line that says what happened and what to do about it; it
/// never holds a secret or an item.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Another process holds the data folder's lock.
    #[error(
        "The data folder {} is in use by a running stack{}. Stop that one, or name another folder with --data.",
        .path.display(), process(.pid)
    )]
    FolderInUse {
        /// The folder.
        path: PathBuf,
        /// The process that holds it, where its lock file says so.
        pid: Option<u32>,
    },

    /// The data folder cannot be made, read or written.
    #[error("The data folder {} cannot be used: {reason}. Name a folder that you can write to with --data.", .path.display())]
    FolderUnusable {
        /// The folder.
        path: PathBuf,
        /// What the operating system says.
        reason: io::Error,
    },

    /// The folder holds somebody's files, and none of ours: writing among them could do harm.
    #[error("The folder {} holds files that are not Onepost's. Name an empty or a new folder with --data.", .path.display())]
    FolderForeign {
        /// The folder.
        path: PathBuf,
    },

    /// There is nothing to export.
    #[error("There is no Onepost data in {}. Name the folder that holds it with --data.", .path.display())]
    NoData {
        /// The folder.
        path: PathBuf,
    },

    /// An import needs a folder without data.
    #[error("The data folder {} already holds data, and an import adds to nothing. Name an empty or a new folder with --data.", .path.display())]
    HasData {
        /// The folder.
        path: PathBuf,
    },

    /// Tables and secrets are good only together, and a part of them is not there.
    #[error(
        "The data in {} is not whole: {missing} is missing. Put it back, or move the whole folder away to start empty, or \
         import an export into a new folder.",
        .path.display()
    )]
    DataApart {
        /// The folder.
        path: PathBuf,
        /// What is not there, and what says that it should be.
        missing: String,
    },

    /// A data file does not hold what it should.
    #[error(
        "The data file {} is broken: {reason}. Move the whole folder {} away to start empty, or import an export into a new \
         folder.",
        .path.display(), folder_of(.path).display()
    )]
    DataFileBroken {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },

    /// A file cannot be read or written.
    #[error("The file {} cannot be used: {reason}.", .path.display())]
    FileUnusable {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        reason: io::Error,
    },

    /// Another program listens on the port.
    #[error("Port {port} on 127.0.0.1 is taken. Stop the program that has it, or name another port with --port (0 takes any free one).")]
    PortTaken {
        /// The port.
        port: u16,
    },

    /// The port cannot be listened on for another reason.
    #[error("Port {port} on 127.0.0.1 cannot be used: {reason}. Name another port with --port (0 takes any free one).")]
    PortUnusable {
        /// The port.
        port: u16,
        /// What the operating system says.
        reason: io::Error,
    },

    /// An engine does not do what it should, for no fault of the caller.
    #[error("{engine} failed: {reason}.")]
    Engine {
        /// Which one, as people call it.
        engine: &'static str,
        /// What it says.
        reason: String,
    },

    /// A product cannot be made ready.
    #[error("{product} cannot start: {}.", one_line(.reason))]
    Product {
        /// Which one.
        product: &'static str,
        /// What it says.
        reason: String,
    },

    /// An export never replaces a file.
    #[error("The file {} exists already. Name another one for the export.", .path.display())]
    ExportExists {
        /// The file.
        path: PathBuf,
    },

    /// The export's destination does not take it.
    #[error("The export could not be written: {0}.")]
    Output(io::Error),

    /// The export's source does not give it.
    #[error("The export could not be read: {0}.")]
    Input(io::Error),

    /// The export is not whole, not ours or not as it was written.
    #[error("The export cannot be imported: line {line} {reason}. Nothing was imported.")]
    BadExport {
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it, as the rest of a sentence.
        reason: String,
    },

    /// The process cannot hear signals.
    #[error("The signals that stop the stack cannot be heard: {0}.")]
    Signals(io::Error),
}

fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(file)
}

fn process(pid: &Option<u32>) -> String {
    pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()
}

/// The message of an engine's error, fit for one line.
pub(crate) fn one_line(message: impl ToString) -> String {
    let message = message.to_string();
    let words = message.split_whitespace().collect::<Vec<_>>().join(" ");
    words.trim_end_matches('.').to_owned()
}
