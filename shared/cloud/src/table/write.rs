//! Writes: each carries its own conditions, and each condition the cause to report when it does not hold.

use std::collections::HashMap;
use std::sync::Mutex;

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::delete_item::DeleteItemError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{
    AttributeValue, ConditionCheck, Delete, DeleteRequest, Put, ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure,
    TransactWriteItem, Update as TransactUpdate, WriteRequest,
};
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use onepost_core::error::ToolError;
use serde::Serialize;

use super::expression::{Comparison, Condition, Placeholders, Update};
use super::key::{Key, PK, SK};
use super::meter::{self, Kind};
use super::retry::{History, Nature, Repeatable, Trouble, retrying, trouble};
use super::{Item, Table, TableError};

/// Holds the token of the write that made an item what it is. A write whose answer was lost recognises its own work.
const WRITTEN_BY: &str = "w";

/// The most items in one request of deletions.
const MOST_DELETIONS: usize = 25;

/// What every write request and every action of a transaction have in common; their builders share no trait.
macro_rules! conditioned {
    ($builder:expr, $condition:expr, $placeholders:expr) => {
        $builder
            .set_condition_expression($condition)
            .set_expression_attribute_names(some($placeholders.names))
            .set_expression_attribute_values(some($placeholders.values))
            .set_return_values_on_condition_check_failure(Some(ReturnValuesOnConditionCheckFailure::AllOld))
    };
}

/// Sends one write and tells a refused condition from other failures; the errors share no trait either.
macro_rules! answered {
    ($request:expr, $error:ident) => {
        match $request.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await {
            Ok(answer) => Ok(answer.consumed_capacity),
            Err(error) => Err(match error.as_service_error() {
                Some($error::ConditionalCheckFailedException(failed)) => Failure::Condition(failed.item.clone()),
                _ => Failure::Other(trouble(&error)),
            }),
        }
    };
}

/// Why one request failed.
enum Failure {
    /// Its condition did not hold of this item.
    Condition(Option<HashMap<String, AttributeValue>>),
    /// Anything else.
    Other(Trouble),
}

/// One step of a write. `C` is the product's own list of causes.
#[derive(Debug, Clone)]
pub struct Action<C> {
    step: Step,
    condition: Option<(Condition, C)>,
}

#[derive(Debug, Clone)]
enum Step {
    Put(HashMap<String, AttributeValue>),
    Update(Key, Update),
    Delete(Key),
    Check(Key),
}

impl<C> Action<C> {
    /// Writes a whole item.
    pub fn put(key: Key, item: &impl Serialize) -> Self {
        let mut attributes: HashMap<String, AttributeValue> =
            serde_dynamo::aws_sdk_dynamodb_1::to_item(item).expect("only plain structures are stored");
        attributes.retain(|_, value| !matches!(value, AttributeValue::Null(_)));
        attributes.extend(key.into_attributes());
        Self { step: Step::Put(attributes), condition: None }
    }

    /// Changes an item, which comes into being where it is missing and no condition forbids it.
    pub fn update(key: Key, update: Update) -> Self {
        Self { step: Step::Update(key, update), condition: None }
    }

    /// Takes an item away.
    pub fn delete(key: Key) -> Self {
        Self { step: Step::Delete(key), condition: None }
    }

    /// Writes nothing and demands something. Only in a transaction, beside a write.
    pub fn check(key: Key, condition: Condition, cause: C) -> Self {
        Self { step: Step::Check(key), condition: Some((condition, cause)) }
    }

    /// Demands something of the stored item; otherwise nothing is written and `cause` is reported.
    #[must_use]
    pub fn only_if(mut self, condition: Condition, cause: C) -> Self {
        self.condition = Some((condition, cause));
        self
    }
}

/// A condition that did not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused<C> {
    /// Which.
    pub cause: C,
    /// The item as it was found, if there was one.
    pub found: Option<Item>,
}

/// A write that was not made.
#[derive(Debug, Clone, PartialEq)]
pub enum WriteError<C> {
    /// Conditions did not hold, in the order of the actions.
    Refused(Vec<Refused<C>>),
    /// The table did not take it.
    Failed(TableError),
}

impl<C> WriteError<C> {
    /// The error for the caller, where `refused` tells what the first condition that did not hold means.
    pub fn told(self, refused: impl FnOnce(Refused<C>) -> ToolError) -> ToolError {
        match self {
            Self::Refused(all) => match all.into_iter().next() {
                Some(first) => refused(first),
                None => ToolError::internal("a write was refused without a cause"),
            },
            Self::Failed(error) => error.into(),
        }
    }
}

/// A write that was attempted and not made.
enum Attempt<C> {
    Refused(Vec<Refused<C>>),
    Failed(Trouble),
}

impl<C> Repeatable for Attempt<C> {
    fn nature(&self) -> Nature {
        match self {
            Self::Refused(_) => Nature::Final,
            Self::Failed(trouble) => trouble.nature(),
        }
    }

    fn after_unknown_outcome(&mut self) {
        if let Self::Failed(trouble) = self {
            trouble.after_unknown_outcome();
        }
    }

    fn out_of_time() -> Self {
        Self::Failed(Trouble::out_of_time())
    }
}

impl<C> From<Attempt<C>> for WriteError<C> {
    fn from(attempt: Attempt<C>) -> Self {
        match attempt {
            Attempt::Refused(refused) => Self::Refused(refused),
            Attempt::Failed(trouble) => Self::Failed(trouble.into()),
        }
    }
}

impl Table {
    /// Makes one write. An answer that gets lost does no harm: the next attempt recognises what the first one did.
    ///
    /// # Panics
    /// On [`Action::check`], which writes nothing.
    pub async fn write<C: Clone>(&self, action: Action<C>) -> Result<(), WriteError<C>> {
        let token = self.ids.uuid().to_string();
        retrying(|history| self.attempt(&action, &token, history)).await.map_err(WriteError::from)
    }

    async fn attempt<C: Clone>(&self, action: &Action<C>, token: &str, history: History) -> Result<(), Attempt<C>> {
        meter::round_trip();
        let mut placeholders = Placeholders::default();
        let mut condition = action.condition.as_ref().map(|(condition, _)| placeholders.condition(condition));
        let sent = match &action.step {
            Step::Put(attributes) => {
                let request = self.client.put_item().table_name(&self.name).set_item(Some(attributes.clone()));
                let request = request.item(WRITTEN_BY, AttributeValue::S(token.to_owned()));
                answered!(conditioned!(request, condition, placeholders), PutItemError)
            }
            Step::Update(key, update) => {
                if update.adds() {
                    // What was added once must not be added by the next attempt, whatever else is demanded.
                    let not_mine =
                        Condition::Any(vec![Condition::Missing(WRITTEN_BY), Condition::compares(WRITTEN_BY, Comparison::IsNot, token)]);
                    let not_mine = placeholders.condition(&not_mine);
                    condition = Some(condition.map_or_else(|| not_mine.clone(), |condition| format!("{condition} AND {not_mine}")));
                }
                let update = placeholders.update(&update.clone().set(WRITTEN_BY, token));
                let request = self.client.update_item().table_name(&self.name).set_key(Some(key.clone().into_attributes()));
                answered!(conditioned!(request.update_expression(update), condition, placeholders), UpdateItemError)
            }
            Step::Delete(key) => {
                let request = self.client.delete_item().table_name(&self.name).set_key(Some(key.clone().into_attributes()));
                answered!(conditioned!(request, condition, placeholders), DeleteItemError)
            }
            Step::Check(_) => panic!("a check stands beside a write"),
        };
        let found = match sent {
            Ok(consumed) => {
                meter::consumed(Kind::Write, consumed.as_ref());
                return Ok(());
            }
            Err(Failure::Condition(found)) => found,
            Err(Failure::Other(trouble)) => return Err(Attempt::Failed(trouble)),
        };
        let written_by = found.as_ref().and_then(|item| item.get(WRITTEN_BY)).and_then(|by| by.as_s().ok());
        // Of a deletion nothing is left to recognise it by, but that an answer to it got lost.
        let gone = matches!(action.step, Step::Delete(_)) && found.is_none() && history.is_unsure;
        if gone || written_by.is_some_and(|by| by == token) {
            return Ok(());
        }
        let refused = action.condition.iter().map(|(_, cause)| Refused { cause: cause.clone(), found: found.clone().map(Item) });
        Err(Attempt::Refused(refused.collect()))
    }

    /// Makes all of these writes or none: at most 100, of different items. A lost answer does no harm, since every
    /// attempt carries the same token.
    pub async fn transact<C: Clone>(&self, actions: Vec<Action<C>>) -> Result<(), WriteError<C>> {
        let token = self.ids.uuid().to_string();
        let items: Vec<TransactWriteItem> = actions.iter().map(|action| self.in_transaction(action)).collect();
        let attempt = |_| async {
            meter::round_trip();
            let request = self
                .client
                .transact_write_items()
                .set_transact_items(Some(items.clone()))
                .client_request_token(&token)
                .return_consumed_capacity(ReturnConsumedCapacity::Total);
            match request.send().await {
                Ok(answer) => {
                    meter::consumed(Kind::Write, answer.consumed_capacity());
                    Ok(())
                }
                Err(error) => Err(cancelled(&actions, &error)),
            }
        };
        retrying(attempt).await.map_err(WriteError::from)
    }

    fn in_transaction<C>(&self, action: &Action<C>) -> TransactWriteItem {
        let mut placeholders = Placeholders::default();
        let condition = action.condition.as_ref().map(|(condition, _)| placeholders.condition(condition));
        let built = "every field that the service demands is given";
        let item = TransactWriteItem::builder();
        match &action.step {
            Step::Put(attributes) => {
                let put = Put::builder().table_name(&self.name).set_item(Some(attributes.clone()));
                item.put(conditioned!(put, condition, placeholders).build().expect(built))
            }
            Step::Update(key, update) => {
                let expression = placeholders.update(update);
                let update = TransactUpdate::builder().table_name(&self.name).set_key(Some(key.clone().into_attributes()));
                item.update(conditioned!(update.update_expression(expression), condition, placeholders).build().expect(built))
            }
            Step::Delete(key) => {
                let delete = Delete::builder().table_name(&self.name).set_key(Some(key.clone().into_attributes()));
                item.delete(conditioned!(delete, condition, placeholders).build().expect(built))
            }
            Step::Check(key) => {
                let check = ConditionCheck::builder().table_name(&self.name).set_key(Some(key.clone().into_attributes()));
                item.condition_check(conditioned!(check, condition, placeholders).build().expect(built))
            }
        }
        .build()
    }

    /// Takes items away, in batches and in no order. Items that are gone already are no fault. Where it fails, some may
    /// be gone: do it again.
    pub async fn delete_all(&self, keys: Vec<Key>) -> Result<(), TableError> {
        for batch in keys.chunks(MOST_DELETIONS) {
            let left = Mutex::new(batch.iter().map(|key| deletion(key.clone().into_attributes())).collect());
            retrying(|_| self.delete_some(&left)).await.map_err(|trouble| TableError::failed(trouble.cause))?;
        }
        Ok(())
    }

    /// One attempt at a batch. What a throttled table hands back undone is left for the next one, after a pause.
    async fn delete_some(&self, left: &Mutex<Vec<WriteRequest>>) -> Result<(), Trouble> {
        let batch = left.lock().expect("no holder of the batch panics").clone();
        meter::round_trip();
        let request = self.client.batch_write_item().request_items(&self.name, batch);
        let answer = request.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await;
        let answer = answer.map_err(|error| trouble(&error))?;
        meter::consumed(Kind::Write, answer.consumed_capacity());
        let undone = answer.unprocessed_items.and_then(|mut undone| undone.remove(&self.name)).unwrap_or_default();
        if undone.is_empty() {
            return Ok(());
        }
        *left.lock().expect("no holder of the batch panics") = undone;
        Err(Trouble { nature: Nature::Busy, cause: "a batch was handed back undone".to_owned() })
    }

    /// The keys of all items of a partition, for taking them away.
    pub async fn keys_of(&self, partition: super::Partition) -> Result<Vec<Key>, TableError> {
        #[derive(serde::Deserialize)]
        struct Place {
            sk: String,
        }
        let places: Vec<Place> = self.query(partition.clone()).keys_only().all().await?;
        Ok(places.into_iter().map(|place| partition.key(place.sk)).collect())
    }
}

fn deletion(key: HashMap<String, AttributeValue>) -> WriteRequest {
    debug_assert!(key.contains_key(PK) && key.contains_key(SK), "a key has both parts");
    let delete = DeleteRequest::builder().set_key(Some(key)).build().expect("the key is given");
    WriteRequest::builder().delete_request(delete).build()
}

/// DynamoDB refuses an empty map of placeholders.
fn some<V>(map: HashMap<String, V>) -> Option<HashMap<String, V>> {
    (!map.is_empty()).then_some(map)
}

/// Why a transaction was not made: conditions first, since no other attempt would meet better ones.
fn cancelled<C: Clone>(actions: &[Action<C>], error: &SdkError<TransactWriteItemsError, HttpResponse>) -> Attempt<C> {
    let Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) = error.as_service_error() else {
        return Attempt::Failed(trouble(error));
    };
    let reasons = cancelled.cancellation_reasons();
    let refused: Vec<Refused<C>> = reasons
        .iter()
        .zip(actions)
        .filter(|(reason, _)| reason.code() == Some("ConditionalCheckFailed"))
        .filter_map(|(reason, action)| action.condition.as_ref().map(|(_, cause)| (reason, cause)))
        .map(|(reason, cause)| Refused { cause: cause.clone(), found: reason.item.clone().map(Item) })
        .collect();
    if !refused.is_empty() {
        return Attempt::Refused(refused);
    }
    let busy = ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"];
    let nature =
        if reasons.iter().any(|reason| reason.code().is_some_and(|code| busy.contains(&code))) { Nature::Busy } else { Nature::Final };
    Attempt::Failed(Trouble { nature, ..trouble(error) })
}
