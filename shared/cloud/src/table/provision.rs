//! Making a table, for engines on this machine. In the cloud the template makes it; a test holds both to one design.

use aws_sdk_dynamodb::operation::create_table::CreateTableError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection, ProjectionType, ScalarAttributeType,
    TimeToLiveSpecification, TimeToLiveStatus,
};

use super::key::{PK, SK};
use super::{PURGE_AT, Table, TableError};
use crate::aws::text_of;

/// A second order of some items: those that carry its partition attribute, sorted as in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Index {
    /// Its name.
    pub name: &'static str,
    /// The attribute that holds its partition.
    pub partition: &'static str,
}

/// What a product's table is made of besides `pk`, `sk` and `purge_at`.
#[derive(Debug, Clone, Copy)]
pub struct Design {
    /// Its indexes.
    pub indexes: &'static [Index],
}

impl Table {
    /// Makes the table unless it is there.
    pub async fn provision(&self, design: &Design) -> Result<(), TableError> {
        let partitions = design.indexes.iter().map(|index| index.partition);
        let mut request = self
            .client
            .create_table()
            .table_name(&self.name)
            .billing_mode(BillingMode::PayPerRequest)
            .set_key_schema(Some(key_schema(PK)))
            .set_attribute_definitions(Some([PK, SK].into_iter().chain(partitions).map(text_attribute).collect()));
        for index in design.indexes {
            request = request.global_secondary_indexes(
                GlobalSecondaryIndex::builder()
                    .index_name(index.name)
                    .set_key_schema(Some(key_schema(index.partition)))
                    .projection(Projection::builder().projection_type(ProjectionType::All).build())
                    .build()
                    .expect("name, keys and projection are given"),
            );
        }
        match request.send().await {
            Ok(_) => self.let_expire().await,
            // Whoever made it may have been killed before the next step.
            Err(error) if error.as_service_error().is_some_and(CreateTableError::is_resource_in_use_exception) => self.let_expire().await,
            Err(error) => Err(TableError::failed(text_of(&error))),
        }
    }

    async fn let_expire(&self) -> Result<(), TableError> {
        let told = self.client.describe_time_to_live().table_name(&self.name).send().await;
        let told = told.map_err(|error| TableError::failed(text_of(&error)))?;
        let status = told.time_to_live_description().and_then(|ttl| ttl.time_to_live_status().cloned());
        if matches!(status, Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling)) {
            return Ok(());
        }
        let ttl = TimeToLiveSpecification::builder().attribute_name(PURGE_AT).enabled(true).build().expect("both fields are given");
        let request = self.client.update_time_to_live().table_name(&self.name).time_to_live_specification(ttl);
        request.send().await.map(|_| ()).map_err(|error| TableError::failed(text_of(&error)))
    }
}

fn key_schema(partition: &str) -> Vec<KeySchemaElement> {
    let element =
        |name: &str, kind| KeySchemaElement::builder().attribute_name(name).key_type(kind).build().expect("name and kind are given");
    vec![element(partition, KeyType::Hash), element(SK, KeyType::Range)]
}

fn text_attribute(name: &str) -> AttributeDefinition {
    AttributeDefinition::builder().attribute_name(name).attribute_type(ScalarAttributeType::S).build().expect("name and type are given")
}
