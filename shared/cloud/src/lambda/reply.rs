//! A response in the form that the doors of payload format 2.0 take.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::SET_COOKIE;
use http::{HeaderMap, HeaderName, HeaderValue};
use onepost_core::http::Response;
use serde::ser::{Serialize, SerializeStruct, Serializer};

/// An answer on its way to the door. Serialises as what the function returns, straight from the answer's bytes.
#[derive(Debug)]
pub struct Reply(pub(super) Response);

impl Serialize for Reply {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (headers, body) = (self.0.headers(), self.0.body());
        let cookies: Vec<_> = headers.get_all(SET_COOKIE).iter().map(text).collect();
        let mut reply = serializer.serialize_struct("Reply", 5)?;
        reply.serialize_field("statusCode", &self.0.status().as_u16())?;
        reply.serialize_field("headers", &Headers(headers))?;
        // A REST API calls a response malformed that has a member it does not know.
        if cookies.is_empty() {
            reply.skip_field("cookies")?;
        } else {
            reply.serialize_field("cookies", &cookies)?;
        }
        // Everything we answer is text, and goes out as it is. An empty body is empty text: without one, doors differ.
        match std::str::from_utf8(body) {
            Ok(text) => {
                reply.serialize_field("body", text)?;
                reply.serialize_field("isBase64Encoded", &false)?;
            }
            Err(_) => {
                reply.serialize_field("body", &STANDARD.encode(body))?;
                reply.serialize_field("isBase64Encoded", &true)?;
            }
        }
        reply.end()
    }
}

/// One text a name, as payload 2.0 has them: what is repeated is joined with commas. Cookies cannot be, and have a place
/// of their own.
struct Headers<'r>(&'r HeaderMap);

impl Serialize for Headers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let joined = |name: &HeaderName| self.0.get_all(name).iter().map(text).collect::<Vec<_>>().join(", ");
        serializer.collect_map(self.0.keys().filter(|name| *name != SET_COOKIE).map(|name| (name.as_str(), joined(name))))
    }
}

fn text(value: &HeaderValue) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(value.as_bytes())
}
