//! Versions of the protocol.

/// A published version of MCP, oldest first. 2024-10-07 was a draft that clients in the field still name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// Draft before the first release.
    V2024_10_07,
    /// First release.
    V2024_11_05,
    /// Streamable HTTP, batches, annotations.
    V2025_03_26,
    /// Structured results; batches gone.
    V2025_06_18,
    /// Icons, tasks, URL elicitation.
    V2025_11_25,
    /// Stateless: no handshake, everything in each request's `_meta`.
    V2026_07_28,
}

impl Version {
    /// Every version, oldest first.
    pub const ALL: [Self; 6] =
        [Self::V2024_10_07, Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];

    /// Its name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_10_07 => "2024-10-07",
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The version with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.as_str() == name)
    }

    /// Whether each request carries everything in its `_meta` and there is no handshake.
    pub fn is_modern(self) -> bool {
        self >= Self::V2026_07_28
    }

    /// Whether tools say what they answer.
    pub fn has_output_schemas(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether tools carry hints.
    pub fn has_annotations(self) -> bool {
        self >= Self::V2025_03_26
    }
}
