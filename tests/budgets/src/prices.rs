//! What AWS asks, in US dollars, in us-east-1, without free tier and discounts. Read on 2026-11-30. AWS's own price pages
//! show numbers by script, so these come from the pages named here, some of them other people's: check them against
//! <https://aws.amazon.com/pricing/> before you rely on them.

/// A million requests to a Lambda function, by whatever door.
/// <https://app.unpkg.com/artillery@2.0.28/files/lib/platform/aws-lambda/prices.js>
pub const LAMBDA_REQUESTS: f64 = 0.20;

/// A GB-second of a Lambda function on arm64. The same source.
pub const LAMBDA_GB_SECOND: f64 = 0.000_013_333_4;

/// A million read units of a table on demand. <https://airbyte.com/data-engineering-resources/dynamodb-pricing>
pub const READ_UNITS: f64 = 0.125;

/// A million write units of a table on demand. The same source.
pub const WRITE_UNITS: f64 = 0.625;

/// A GB taken in by CloudWatch Logs, standard class, first tier. <https://www.duckbillgroup.com/?p=9080>
pub const LOGS_GB: f64 = 0.50;

/// What stands before the function, with what it asks for a million requests.
///
/// HTTP and REST APIs: AWS's white paper "Best practices for API Gateway private APIs and integration", cost optimisation.
/// The agent gateway is Amazon Bedrock AgentCore Gateway, $0.005 for a thousand lists, calls and pings:
/// <https://github.com/aws/agent-toolkit-for-aws>, the skill about cost of the plug-in for agents.
pub const DOORS: [(&str, f64); 4] = [("Function URL", 0.0), ("HTTP API", 1.0), ("REST API", 3.5), ("agent gateway", 5.0)];
