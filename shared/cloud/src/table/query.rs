//! Reading lists.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use serde::de::DeserializeOwned;

use super::expression::{Condition, Placeholders, attribute_value};
use super::key::{PK, Partition, SK};
use super::meter::{self, Kind};
use super::provision::Index;
use super::retry::{retrying, trouble};
use super::{Consistency, Item, Table, TableError};

/// Which end of the list comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The smallest sort key.
    Ascending,
    /// The largest sort key.
    Descending,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The items, in order.
    pub items: Vec<T>,
    /// The sort key to continue after, if there is more.
    pub next: Option<String>,
}

/// A list to be read.
#[derive(Debug)]
pub struct Query<'t> {
    table: &'t Table,
    partition: Partition,
    index: Option<Index>,
    prefix: Option<String>,
    after: Option<String>,
    direction: Direction,
    filter: Option<Condition>,
    skipped: usize,
    keys_only: bool,
    consistency: Consistency,
}

impl<'t> Query<'t> {
    pub(super) fn new(table: &'t Table, partition: Partition) -> Self {
        Self {
            table,
            partition,
            index: None,
            prefix: None,
            after: None,
            direction: Direction::Ascending,
            filter: None,
            skipped: 0,
            keys_only: false,
            consistency: Consistency::Strong,
        }
    }

    /// Reads through an index; always eventual.
    #[must_use]
    pub fn through(mut self, index: Index) -> Self {
        self.index = Some(index);
        self.consistency = Consistency::Eventual;
        self
    }

    /// Only items whose sort key begins so. Not together with [`Query::after`].
    #[must_use]
    pub fn beginning_with(mut self, prefix: &str) -> Self {
        self.prefix = Some(prefix.to_owned());
        self
    }

    /// Only items beyond this sort key, seen in the direction of reading. The item itself may be gone.
    #[must_use]
    pub fn after(mut self, sk: Option<String>) -> Self {
        self.after = sk;
        self
    }

    /// Which end comes first.
    #[must_use]
    pub fn direction(mut self, direction: Direction) -> Self {
        self.direction = direction;
        self
    }

    /// Only items of which this holds. Those left out are read and paid for.
    #[must_use]
    pub fn only(mut self, filter: Condition) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Passes over the first items of which the filter holds. They are read and paid for, and not kept.
    #[must_use]
    pub fn skip(mut self, count: usize) -> Self {
        self.skipped = count;
        self
    }

    /// Only the keys cross the network; the price is that of whole items.
    #[must_use]
    pub(super) fn keys_only(mut self) -> Self {
        self.keys_only = true;
        self
    }

    /// Reads up to `limit` items, however many requests that takes: a page that a filter emptied is not the end. Behind
    /// a filter each request reaches further than the one before, so that neither a filter that lets all pass reads
    /// more than the page, nor one that lets few pass takes many requests.
    pub async fn page<T: DeserializeOwned>(self, limit: usize) -> Result<Page<T>, TableError> {
        let mut items: Vec<Item> = Vec::new();
        let mut from = None;
        let mut to_skip = self.skipped;
        // One more than asked for tells whether there is more.
        let mut reach = to_skip.saturating_add(limit).saturating_add(1);
        loop {
            let wanted = if self.filter.is_some() { reach } else { to_skip.saturating_add(limit).saturating_add(1) - items.len() };
            let (mut read, next) = self.request(from, Some(wanted)).await?;
            let passed_over = to_skip.min(read.len());
            to_skip -= passed_over;
            items.extend(read.drain(passed_over..));
            from = next;
            reach = reach.saturating_mul(4);
            if items.len() > limit || from.is_none() {
                break;
            }
        }
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(|item| item.sk().to_owned());
        let items = items.into_iter().map(Item::read).collect::<Result<_, _>>()?;
        Ok(Page { items, next })
    }

    /// Reads the first item alone.
    pub async fn first<T: DeserializeOwned>(self) -> Result<Option<T>, TableError> {
        let (items, _) = self.request(None, Some(1)).await?;
        items.into_iter().next().map(Item::read).transpose()
    }

    /// Reads the whole list.
    pub async fn all<T: DeserializeOwned>(self) -> Result<Vec<T>, TableError> {
        self.items().await?.into_iter().map(Item::read).collect()
    }

    /// Reads the whole list, of items that are not all of one type.
    pub async fn items(self) -> Result<Vec<Item>, TableError> {
        let (mut items, mut from) = self.request(None, None).await?;
        while from.is_some() {
            let (more, next) = self.request(from, None).await?;
            items.extend(more);
            from = next;
        }
        Ok(items)
    }

    async fn request(
        &self,
        from: Option<HashMap<String, AttributeValue>>,
        limit: Option<usize>,
    ) -> Result<(Vec<Item>, Option<HashMap<String, AttributeValue>>), TableError> {
        let mut placeholders = Placeholders::default();
        let partition_attribute = self.index.map_or(PK, |index| index.partition);
        let partition = placeholders.value(attribute_value(self.partition.as_str()));
        let mut condition = format!("{} = {partition}", placeholders.name(partition_attribute));
        if let Some(prefix) = &self.prefix {
            let prefix = placeholders.value(attribute_value(prefix));
            condition += &format!(" AND begins_with({}, {prefix})", placeholders.name(SK));
        }
        if let Some(after) = &self.after {
            let sign = if self.direction == Direction::Ascending { ">" } else { "<" };
            let after = placeholders.value(attribute_value(after));
            condition += &format!(" AND {} {sign} {after}", placeholders.name(SK));
        }
        let filter = self.filter.as_ref().map(|filter| placeholders.condition(filter));
        let limit = limit.and_then(|limit| i32::try_from(limit).ok());
        let projection = self.keys_only.then(|| format!("{}, {}", placeholders.name(PK), placeholders.name(SK)));
        let answer = retrying(|_| async {
            meter::round_trip();
            let request = self
                .table
                .client
                .query()
                .table_name(&self.table.name)
                .set_index_name(self.index.map(|index| index.name.to_owned()))
                .key_condition_expression(&condition)
                .set_filter_expression(filter.clone())
                .set_projection_expression(projection.clone())
                .set_expression_attribute_names(Some(placeholders.names.clone()))
                .set_expression_attribute_values(Some(placeholders.values.clone()))
                .set_exclusive_start_key(from.clone())
                .set_limit(limit)
                .scan_index_forward(self.direction == Direction::Ascending)
                .consistent_read(self.consistency == Consistency::Strong)
                .return_consumed_capacity(ReturnConsumedCapacity::Total);
            request.send().await.map_err(|error| trouble(&error))
        })
        .await?;
        meter::consumed(Kind::Read, answer.consumed_capacity());
        let items = answer.items.unwrap_or_default().into_iter().map(Item).collect();
        Ok((items, answer.last_evaluated_key))
    }
}
