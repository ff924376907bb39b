//! A connector that stands where the SDK's HTTP client stands and answers out of a map.
//!
//! While a world is furnished it keeps what is put. Then it is frozen: a read it has answered before costs one look into a
//! map, a write costs nothing and changes nothing, so that what is counted is the function's work and hardly the stub's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;
use aws_types::SdkConfig;
use bytes::Bytes;
use onepost_cloud::aws;
use serde_json::{Value, json};

/// What an item has as its key.
type Place = (String, String);

/// A table that keeps what is put until it is frozen, and knows no condition.
#[derive(Debug, Clone, Default)]
pub struct Stub(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    items: HashMap<Place, Value>,
    /// Answers by the request's body.
    known: HashMap<Vec<u8>, Bytes>,
    frozen: bool,
}

impl Stub {
    /// The configuration of a client that talks to this stub, and is otherwise built as the functions build theirs.
    pub fn config(&self) -> SdkConfig {
        aws::on_this_machine("http://stub").to_builder().http_client(SharedHttpClient::new(self.clone())).build()
    }

    /// Keeps nothing more.
    pub fn freeze(&self) {
        self.state().frozen = true;
    }

    /// The first item that was put whose sort key begins so.
    pub fn item(&self, sort_key: &str) -> Option<Value> {
        self.state().items.iter().find(|((_, sk), _)| sk.starts_with(sort_key)).map(|(_, item)| item.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, operation: &str, body: &[u8]) -> Bytes {
        let mut state = self.state();
        match operation {
            "GetItem" => {
                if let Some(answer) = state.known.get(body) {
                    return answer.clone();
                }
                let request: Value = serde_json::from_slice(body).unwrap_or_default();
                let mut answer = json!({ "ConsumedCapacity": { "TableName": "checklists", "CapacityUnits": 1.0 } });
                if let Some(item) = state.items.get(&place(&request["Key"])) {
                    answer["Item"] = item.clone();
                }
                let answer = Bytes::from(answer.to_string());
                if state.frozen {
                    state.known.insert(body.to_vec(), answer.clone());
                }
                answer
            }
            "TransactWriteItems" => {
                if !state.frozen {
                    let request: Value = serde_json::from_slice(body).unwrap_or_default();
                    for action in request["TransactItems"].as_array().into_iter().flatten() {
                        let item = &action["Put"]["Item"];
                        if item.is_object() {
                            state.items.insert(place(item), item.clone());
                        }
                    }
                }
                Bytes::from_static(br#"{"ConsumedCapacity":[{"TableName":"checklists","CapacityUnits":4.0}]}"#)
            }
            _ => Bytes::from_static(b"{}"),
        }
    }
}

fn place(item: &Value) -> Place {
    let text = |name: &str| item[name]["S"].as_str().unwrap_or_default().to_owned();
    (text("pk"), text("sk"))
}

impl HttpClient for Stub {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Stub {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let target = request.headers().get("x-amz-target").unwrap_or_default();
        let operation = target.rsplit('.').next().unwrap_or_default();
        let body = self.answer(operation, request.body().bytes().unwrap_or_default());
        let mut response = HttpResponse::new(StatusCode::try_from(200).expect("a status of three digits"), SdkBody::from(body));
        response.headers_mut().insert("content-type", "application/x-amz-json-1.0");
        HttpConnectorFuture::ready(Ok(response))
    }
}
