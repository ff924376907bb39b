//! Resources: a text, some bytes, one for each number, and one to watch.

use onepost_core::jsonrpc::Error;
use onepost_core::mcp::{Answer, Version};
use serde_json::{Value, json};

use crate::content;

/// Resource not found, up to 2025-11-25; 2026-07-28 has no code of its own for it.
const NOT_FOUND: i32 = -32002;

const TEXTS: [(&str, &str); 2] =
    [("test://static-text", "This text never changes."), ("test://watched-resource", "Whoever watches this will wait.")];

pub fn list() -> Result<Answer, Error> {
    let mut resources: Vec<Value> =
        TEXTS.map(|(uri, text)| json!({ "uri": uri, "name": uri, "description": text, "mimeType": "text/plain" })).into();
    resources.push(json!({ "uri": "test://static-binary", "name": "A red pixel", "description": "Bytes.", "mimeType": "image/png" }));
    Ok(Answer::Cacheable(json!({ "resources": resources })))
}

pub fn templates() -> Result<Answer, Error> {
    let template = json!({
        "uriTemplate": "test://template/{id}/data", "name": "Data of a number", "description": "Made from its address.",
        "mimeType": "application/json",
    });
    Ok(Answer::Cacheable(json!({ "resourceTemplates": [template] })))
}

pub fn read(params: &Value, version: Version) -> Result<Answer, Error> {
    let uri = params.get("uri").and_then(Value::as_str).ok_or_else(|| Error::invalid_params("uri must be a string."))?;
    let contents = if let Some((_, text)) = TEXTS.iter().find(|(known, _)| *known == uri) {
        json!({ "uri": uri, "mimeType": "text/plain", "text": text })
    } else if uri == "test://static-binary" {
        json!({ "uri": uri, "mimeType": "image/png", "blob": content::png() })
    } else if let Some(id) = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data")) {
        json!({ "uri": uri, "mimeType": "application/json", "text": json!({ "id": id, "made": true }).to_string() })
    } else {
        let mut error = Error::invalid_params("There is no such resource.").with_data(json!({ "uri": uri }));
        if !version.is_modern() {
            error.code = NOT_FOUND;
        }
        return Err(error);
    };
    Ok(Answer::Cacheable(json!({ "contents": [contents] })))
}
