//! The operations: a request's JSON in, the engine's answer out, and a refusal as DynamoDB writes it.
//!
//! The engine keeps some of its reading of requests to its own server, which answers pages and is therefore not used
//! (see the module above). What an SDK client can send is answered the same; the differences left are in the wording of a
//! refusal where a member has a JSON type that no client sends.

use dynoxide::{Database, DynoxideError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

/// What DynamoDB says of a value that is nested more deeply than the parser follows.
const TOO_DEEP: &str = "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit";
const EMPTY_VALUE: &str = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes";

/// Runs one operation; `None` where there is none of this name. Blocks.
///
/// # Errors
/// The refusal, ready for the wire.
pub(super) fn run(database: &Database, operation: &str, body: &[u8]) -> Result<Option<String>, DynoxideError> {
    dispatch(database, operation, body).map_err(|error| as_answered(operation, error))
}

fn dispatch(database: &Database, operation: &str, body: &[u8]) -> Result<Option<String>, DynoxideError> {
    match operation {
        "BatchExecuteStatement" => call(body, |request| database.batch_execute_statement(request)),
        "BatchGetItem" => call(body, |request| database.batch_get_item(request)),
        "BatchWriteItem" => call(body, |request| database.batch_write_item(request)),
        "CreateTable" => call(body, |request| database.create_table(request)),
        "DeleteItem" => call(body, |request| database.delete_item(request)),
        "DeleteTable" => call(body, |request| database.delete_table(request)),
        "DescribeStream" => call(body, |request| database.describe_stream(request)),
        "DescribeTable" => call(body, |request| database.describe_table(request)),
        "DescribeTimeToLive" => call(body, |request| database.describe_time_to_live(request)),
        "ExecuteStatement" => call(body, |request| database.execute_statement(request)),
        "ExecuteTransaction" => call(body, |request| database.execute_transaction(request)),
        "GetItem" => call(body, |request| database.get_item(request)),
        "GetRecords" => call(body, |request| database.get_records(request)),
        "GetShardIterator" => call(body, |request| database.get_shard_iterator(request)),
        "ListStreams" => call(body, |request| database.list_streams(request)),
        "ListTables" => call(body, |request| database.list_tables(request)),
        "ListTagsOfResource" => call(body, |request| database.list_tags_of_resource(request)),
        "PutItem" => call(body, |request| database.put_item(request)),
        "Query" => call(body, |request| database.query(request)),
        "Scan" => call(body, |request| database.scan(request)),
        "SearchVectors" => call(body, |request| database.search_vectors(request)),
        "TagResource" => call(body, |request| database.tag_resource(request)),
        "TransactGetItems" => call(body, |request| database.transact_get_items(request)),
        "TransactWriteItems" => call(body, |request| database.transact_write_items(request)),
        "UntagResource" => call(body, |request| database.untag_resource(request)),
        "UpdateItem" => call(body, |request| database.update_item(request)),
        "UpdateTable" => call(body, |request| database.update_table(request)),
        "UpdateTimeToLive" => call(body, |request| database.update_time_to_live(request)),
        _ => return Ok(None),
    }
    .map(Some)
}

fn call<Q: DeserializeOwned, A: Serialize>(body: &[u8], run: impl FnOnce(Q) -> Result<A, DynoxideError>) -> Result<String, DynoxideError> {
    let answer = run(serde_json::from_slice(body).map_err(|error| unreadable(&error))?)?;
    serde_json::to_string(&answer).map_err(|error| DynoxideError::InternalServerError(error.to_string()))
}

/// A request that cannot be read. The engine's types check as they read, and mark what class their message is of.
fn unreadable(error: &serde_json::Error) -> DynoxideError {
    let whole = error.to_string();
    if whole.starts_with("recursion limit exceeded") {
        return DynoxideError::ValidationException(TOO_DEEP.to_owned());
    }
    // Not JSON: the protocol's own error, which says nothing.
    if error.classify() != Category::Data {
        return DynoxideError::SerializationException(String::new());
    }
    let message = whole.rsplit_once(" at line ").map_or(whole.as_str(), |(message, _)| message);
    if let Some((mark, rest)) = message.split_once(':') {
        match mark {
            "SERIALIZATION" => return DynoxideError::SerializationException(rest.to_owned()),
            "VALIDATION_REQUEST" => return DynoxideError::EnvelopedValidation(rest.to_owned()),
            "VALIDATION" => return DynoxideError::ValidationException(rest.to_owned()),
            _ => {}
        }
    }
    if ["missing field", "unknown variant", "invalid type: null"].iter().any(|kind| message.contains(kind)) {
        return DynoxideError::ValidationException(whole);
    }
    if message.contains("empty AttributeValue") {
        return DynoxideError::ValidationException(EMPTY_VALUE.to_owned());
    }
    if message.contains("Supplied AttributeValue") {
        return DynoxideError::ValidationException(message.to_owned());
    }
    DynoxideError::SerializationException(message.to_owned())
}

/// The error as this operation answers it: writes of one item say how many members were refused, and a statement's failed
/// condition has a shape of its own.
fn as_answered(operation: &str, error: DynoxideError) -> DynoxideError {
    match (operation, error) {
        ("PutItem" | "UpdateItem" | "DeleteItem", DynoxideError::EnvelopedValidation(message)) => {
            DynoxideError::ValidationException(format!("1 validation error detected: {message}"))
        }
        ("ExecuteStatement", DynoxideError::ConditionalCheckFailedException(message, Some(item))) => {
            DynoxideError::StatementConditionalCheckFailed(message, item)
        }
        (_, error) => error,
    }
}
