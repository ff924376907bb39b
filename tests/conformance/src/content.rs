//! The smallest things that are what they claim to be.

use serde_json::{Value, json};

/// One red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

/// A WAV file of one silent sample.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==";

pub fn png() -> &'static str {
    PNG
}

pub fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

pub fn image() -> Value {
    json!({ "type": "image", "data": PNG, "mimeType": "image/png" })
}

pub fn audio() -> Value {
    json!({ "type": "audio", "data": WAV, "mimeType": "audio/wav" })
}

pub fn resource(uri: &str, mime_type: &str, text: &str) -> Value {
    json!({ "type": "resource", "resource": { "uri": uri, "mimeType": mime_type, "text": text } })
}
