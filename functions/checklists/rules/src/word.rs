//! Closed vocabularies: enums that are written as one fixed word each in documents and in JSON.

/// A closed vocabulary. The list of all words lets a refusal name what would have been accepted.
pub trait Word: Copy + 'static {
    /// Every word, in the order of the schema.
    const ALL: &'static [Self];
    /// The word as it is written.
    fn as_str(self) -> &'static str;
}

/// Declares an enum whose variants are written as the given words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$variant_doc])* #[serde(rename = $text)] $variant),+ }

        impl $name {
            /// Every word, in the order of the schema.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word as it is written in documents.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl $crate::word::Word for $name {
            const ALL: &'static [Self] = Self::ALL;
            fn as_str(self) -> &'static str {
                Self::as_str(self)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }
    };
}

pub(crate) use words;
