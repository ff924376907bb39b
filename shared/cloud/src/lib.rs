//! What every Lambda function stands on: AWS clients, the DynamoDB table, secrets, telemetry and the Lambda shell.

pub mod aws;
pub mod lambda;
pub mod limits;
pub mod secrets;
pub mod table;
pub mod telemetry;
