//! The documents of `schemas/`, each laid over the one it extends.

use std::collections::HashMap;
use std::sync::LazyLock;

use jsonschema::Validator;
use onepost_core::mcp::Version;
use serde_json::{Map, Value, json};

const COMMON: &str = include_str!("../schemas/common.json");

/// Oldest first: each extends the one before.
const BY_VERSION: [(Version, &str); 6] = [
    (Version::V2024_10_07, include_str!("../schemas/2024-10-07.json")),
    (Version::V2024_11_05, include_str!("../schemas/2024-11-05.json")),
    (Version::V2025_03_26, include_str!("../schemas/2025-03-26.json")),
    (Version::V2025_06_18, include_str!("../schemas/2025-06-18.json")),
    (Version::V2025_11_25, include_str!("../schemas/2025-11-25.json")),
    (Version::V2026_07_28, include_str!("../schemas/2026-07-28.json")),
];

/// The definitions of one version, each ready to judge by.
pub(crate) struct Definitions(HashMap<String, Validator>);

impl Definitions {
    pub(crate) fn of(version: Version) -> &'static Self {
        static ALL: LazyLock<HashMap<Version, Definitions>> = LazyLock::new(load);
        &ALL[&version]
    }

    /// The definition of a method's result; `result` where the version says nothing more of it.
    pub(crate) fn result_of(&self, method: &str) -> &Validator {
        self.0.get(&method.replace('/', "_")).unwrap_or_else(|| self.named("result"))
    }

    pub(crate) fn named(&self, name: &str) -> &Validator {
        self.0.get(name).unwrap_or_else(|| panic!("no schema defines {name}"))
    }
}

fn load() -> HashMap<Version, Definitions> {
    let mut defined = definitions(COMMON);
    let mut all = HashMap::new();
    for (version, text) in BY_VERSION {
        defined.extend(definitions(text));
        let validator = |name: &String| {
            let schema =
                json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": format!("#/$defs/{name}"), "$defs": defined });
            jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{version:?} {name}: {error}"))
        };
        all.insert(version, Definitions(defined.keys().map(|name| (name.clone(), validator(name))).collect()));
    }
    all
}

fn definitions(text: &str) -> Map<String, Value> {
    let document: Value = serde_json::from_str(text).expect("a document of schemas/ is JSON");
    document["$defs"].as_object().expect("a document of schemas/ has $defs").clone()
}
