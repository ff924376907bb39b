//! `tools/call`: find the tool, check the arguments, run it, write what came of it.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::era::Era;
use super::exchange::{Exchange, Fault, NEEDS_INPUT};
use super::input::Binding;
use super::notices::Notices;
use super::param_headers::ParamHeader;
use super::record::{Outcome, Record};
use super::{Product, Refusals, Reported, Version, answer, server};
use crate::auth::Denied;
use crate::catalog::{Call, Rendered, Violation};
use crate::error::ToolError;
use crate::http::Rejection;
use crate::json as strict_json;
use crate::jsonrpc::{self, Error};

impl<P: Product> Exchange<'_, P> {
    pub(super) async fn call(
        &self,
        era: &Era,
        request: jsonrpc::Request,
        notices: &Notices,
        record: &mut Record,
    ) -> Result<Box<RawValue>, Fault> {
        let (version, product) = (era.version, self.server.product());
        let Some(name) = request.params.get("name").and_then(Value::as_str) else {
            return Err(Error::invalid_params("tools/call needs params with name, the name of a tool, as a string.").into());
        };
        let Some(tool) = self.server.catalog().find(name) else {
            return self.unknown_tool(version, record);
        };
        let spec = tool.spec();
        record.subjects.push(spec.name);
        // Before the arguments are taken out of the parameters.
        let binding = spec.asks.then(|| Binding::of(&request.method, &request.params));
        let client = match &binding {
            Some(binding) => Some(self.with_answers(&era.client, version, binding, &request.params)?),
            None => None,
        };
        let client = client.as_ref().unwrap_or(&era.client);
        let id = request.id;
        let arguments = arguments(request.params);
        if let (true, Ok(arguments)) = (version.is_modern(), &arguments) {
            self.headers_agree(tool.param_headers(), arguments)?;
        }
        let ready = match arguments.and_then(|arguments| tool.check(arguments)) {
            Ok(ready) => ready,
            Err(violations) => return self.misfit_arguments(version, spec.name, &violations, record),
        };
        if !spec.hints.read_only {
            let confirmed = product.confirm(self.caller, self.now).await;
            confirmed.map_err(|refused| Fault::Rejected(server::rejected::<P>(refused, record)))?;
        }
        if let Some(scope) = spec.scope {
            match product.authorise(self.caller, scope) {
                Ok(()) => {}
                Err(Denied::Refused(error)) => return Ok(self.refused(version, &error, record)),
                Err(Denied::Challenged) => return Err(Fault::Rejected(Rejection::MissingScope(scope))),
            }
        }
        let request_id = record.request_id.clone();
        let call = Call::new(self.caller, &request_id, self.now, client, notices);
        let rendered = match AssertUnwindSafe(ready.run(product, call)).catch_unwind().await {
            Ok(Ok(rendered)) => rendered,
            Ok(Err(error)) => return Ok(self.refused(version, &error, record)),
            Err(_) => return Ok(self.refused(version, &ToolError::internal(format!("{} panicked", spec.name)), record)),
        };
        let complete = match (rendered, binding) {
            (Rendered::Complete(complete), _) => complete,
            (Rendered::Ask(ask), Some(binding)) if version.is_modern() => return self.ask(ask, client, version, &binding),
            (Rendered::Ask(_), Some(_)) => {
                return Ok(self.refused(version, &ToolError::conflict("input_unavailable", NEEDS_INPUT), record));
            }
            (Rendered::Ask(_), None) => {
                return Ok(self.refused(version, &ToolError::internal(format!("{} asks and does not say so", spec.name)), record));
            }
        };
        let result = answer::called(P::PROFILE, version, complete);
        if answer::length(&id, &result) > P::PROFILE.answer_limit {
            let limit = P::PROFILE.answer_limit;
            let message = match spec.narrowed_by {
                _ if !spec.hints.read_only => format!("Done, but the answer is larger than {limit} bytes: do not repeat it, read it back."),
                Some(argument) => format!("The answer is larger than {limit} bytes. Narrow it with the argument {argument}."),
                None => format!("The answer is larger than {limit} bytes."),
            };
            return Ok(self.refused(version, &ToolError::answer_too_large(message), record));
        }
        Ok(result)
    }

    /// Arguments that the client must repeat as headers say there what they say in the body.
    fn headers_agree(&self, repeated: &[ParamHeader], arguments: &Map<String, Value>) -> Result<(), Error> {
        let Some(headers) = self.transport.headers() else {
            return Ok(());
        };
        match repeated.iter().find(|repeated| !repeated.agrees(headers, arguments)) {
            None => Ok(()),
            Some(other) => {
                Err(Error::header_mismatch(format!("The header {} must be sent once and say what the argument says.", other.header())))
            }
        }
    }

    fn unknown_tool(&self, version: Version, record: &mut Record) -> Result<Box<RawValue>, Fault> {
        record.subjects.push("unknown tool");
        let names: Vec<&str> = self.server.catalog().names().collect();
        let message = format!("There is no tool of this name. The tools are: {}.", names.join(", "));
        match P::PROFILE.faults.unknown_tool {
            Reported::AsProtocolError => Err(Error::invalid_params(message).into()),
            Reported::AsToolError => Ok(self.refused(version, &ToolError::not_found("unknown_tool", message), record)),
        }
    }

    fn misfit_arguments(
        &self,
        version: Version,
        tool: &str,
        violations: &[Violation],
        record: &mut Record,
    ) -> Result<Box<RawValue>, Fault> {
        let told: Vec<String> = violations
            .iter()
            .take(5)
            .map(|one| format!("{} {}", strict_json::shown(&one.path), one.message).trim_start().to_owned())
            .collect();
        let more = violations.len().checked_sub(5).filter(|more| *more > 0).map_or_else(String::new, |more| format!("; and {more} more"));
        let message = format!("The arguments of {tool} do not fit: {}{more}.", told.join("; "));
        let errors = json!({ "errors": violations });
        match P::PROFILE.faults.arguments {
            Reported::AsProtocolError => Err(Error::invalid_params(message).with_data(errors).into()),
            Reported::AsToolError => {
                Ok(self.refused(version, &ToolError::invalid("invalid_arguments", message).with_details(errors), record))
            }
        }
    }

    fn refused(&self, version: Version, error: &ToolError, record: &mut Record) -> Box<RawValue> {
        record.ended(Outcome::ToolError, error.code());
        record.causes.extend(error.cause().map(str::to_owned));
        let error = P::PROFILE.dialect.render(error, &record.request_id);
        answer::refused(P::PROFILE, version, &error, P::PROFILE.refusals == Refusals::Structured)
    }
}

/// Arguments left out, `null`, an object, or an object as JSON text.
fn arguments(params: Value) -> Result<Map<String, Value>, Vec<Violation>> {
    let refused = || vec![Violation { path: String::new(), rule: "type", message: "must be an object".to_owned() }];
    let sent = match params {
        Value::Object(mut params) => params.shift_remove("arguments"),
        _ => None,
    };
    match sent {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(arguments)) => Ok(arguments),
        Some(Value::String(text)) => match strict_json::parse(&text) {
            Ok(Value::Object(arguments)) => Ok(arguments),
            _ => Err(refused()),
        },
        Some(_) => Err(refused()),
    }
}
