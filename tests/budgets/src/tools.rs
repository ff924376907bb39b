//! What each tool costs the table, read from the line that the shipped function logs, its round trips in sequence, and
//! how long its line is.

use std::path::Path;

use checklists::members::Role;
use serde_json::{Value, json};

use crate::Failed;
use crate::function::{Function, event};
use crate::ground::{Ground, Tenant, failed};
use crate::report::Row;

/// One tool of one organisation. Each has its own: what calls are counted against begins anew with it, and nothing of one
/// tool's data lies in another's way.
struct Visitor<'w> {
    function: &'w mut Function,
    ground: &'w Ground,
    tenant: Tenant,
}

struct Measured {
    units: [f64; 3],
    log_bytes: usize,
}

impl Visitor<'_> {
    /// Calls a tool and answers its result.
    async fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, Failed> {
        self.send(&asking(tool, &arguments)).await.map(|(result, _)| result)
    }

    async fn send(&mut self, message: &Value) -> Result<(Value, String), Failed> {
        let invoked = self.function.invoke(&event("POST", &self.tenant.key, &message.to_string())).await?;
        let result = &invoked.body["result"];
        if invoked.status != 200 || result.is_null() || result["isError"] == true {
            return Err(format!("{message} was answered {} {}", invoked.status, invoked.body).into());
        }
        Ok((result["structuredContent"].clone(), invoked.line))
    }

    /// Sends a message and tells what it cost. A tool that writes reads the key itself; before any other one the key has
    /// just been read.
    async fn measure(&mut self, message: &Value) -> Result<Measured, Failed> {
        // Tools that write read the key anew, also where there is nothing to delete.
        let missing = asking("delete_asset", &json!({ "asset_id": "a-00000000-0000-4000-8000-000000000000" }));
        self.function.invoke(&event("POST", &self.tenant.key, &missing.to_string())).await?;
        self.ground.proxy.count();
        let (_, line) = self.send(message).await?;
        let waves = self.ground.proxy.waves();
        let logged: Value = serde_json::from_str(&line)?;
        let units = |name: &str| logged[name].as_f64().ok_or_else(|| format!("the line tells no {name}: {line}"));
        #[expect(clippy::cast_precision_loss, reason = "a call makes a few round trips")]
        Ok(Measured { units: [units("reads")?, units("writes")?, waves as f64], log_bytes: length_of(&line) })
    }
}

/// Bytes of a line with its end, as if the call had taken some ten milliseconds: here they are the proxy's doing.
fn length_of(line: &str) -> usize {
    let ms = line.split_once(r#""ms":"#).map_or("", |(_, rest)| rest.split(',').next().unwrap_or_default());
    line.len() + 1 + "12.3".len() - ms.len()
}

fn asking(tool: &str, arguments: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
}

/// All rows.
pub async fn rows(function: &Path) -> Result<Vec<Row>, Failed> {
    let ground = Ground::new().await?;
    let mut function = Function::start(&[], function, &ground).await?;
    let mut rows = Vec::new();
    let mut longest = (0, "");
    let cases = [
        "tools/list",
        "list_assets",
        "get_asset",
        "create_asset",
        "update_asset",
        "delete_asset",
        "list_templates",
        "get_template",
        "create_template",
        "update_template",
        "delete_template",
        "create_run",
        "create_run for an asset",
        "get_run",
        "list_runs",
        "delete_run",
        "list_members",
        "invite_member",
        "remove_member",
    ];
    for case in cases {
        let mut visitor = Visitor { tenant: ground.tenant().await?, ground: &ground, function: &mut function };
        let message = match case {
            "tools/list" => json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }),
            tool => asking(tool.split(' ').next().unwrap_or_default(), &furnished(&mut visitor, tool).await?),
        };
        let measured = visitor.measure(&message).await?;
        longest = longest.max((measured.log_bytes, case));
        let what = format!("{case}: read units / write units / round trips in sequence");
        rows.push(Row { values: measured.units.to_vec(), ..Row::new(format!("table.{case}"), what, 0.0) });
    }
    #[expect(clippy::cast_precision_loss, reason = "a line is short")]
    rows.push(Row::new("log.bytes", format!("log bytes of a call, the longest of these ({})", longest.1), longest.0 as f64).within(200.0));
    Ok(rows)
}

/// What a call of the tool needs to be there, and its arguments.
async fn furnished(visitor: &mut Visitor<'_>, case: &str) -> Result<Value, Failed> {
    let new_asset = json!({ "name": "Van 7", "fields": { "plate": "AB 123 C" } });
    let step = json!({ "id": "s-one", "type": "boolean", "label": "Is it clean?", "required": true });
    let new_template = json!({ "name": "Check", "sections": [{ "steps": [step] }] });
    Ok(match case {
        "create_asset" => new_asset,
        "list_assets" | "get_asset" | "update_asset" | "delete_asset" => {
            let asset = visitor.call("create_asset", new_asset).await?;
            match case {
                "list_assets" => json!({}),
                "update_asset" => json!({ "asset_id": asset["id"], "name": "Bus" }),
                _ => json!({ "asset_id": asset["id"] }),
            }
        }
        "create_template" => new_template,
        "list_templates" | "get_template" | "update_template" | "delete_template" => {
            let template = visitor.call("create_template", new_template).await?;
            match case {
                "list_templates" => json!({}),
                "update_template" => json!({ "template_id": template["id"], "name": "New" }),
                _ => json!({ "template_id": template["id"] }),
            }
        }
        "create_run" | "create_run for an asset" | "get_run" | "list_runs" | "delete_run" => {
            let template = visitor.call("create_template", new_template).await?;
            let mut new_run = json!({ "template_id": template["id"] });
            if case == "create_run for an asset" {
                new_run["asset_id"] = visitor.call("create_asset", new_asset).await?["id"].clone();
            }
            if case.starts_with("create_run") {
                return Ok(new_run);
            }
            let run = visitor.call("create_run", new_run).await?;
            if case == "list_runs" { json!({}) } else { json!({ "run_id": run["run_id"] }) }
        }
        "list_members" => json!({}),
        "invite_member" => json!({ "email": "new@home.example" }),
        "remove_member" => {
            let (desk, organisation) = (&visitor.ground.desk, &visitor.tenant.organisation);
            let member = desk.add_member(organisation, "Ada", "ada@home.example", Role::Member).await.map_err(failed)?;
            json!({ "user_id": member.user_id })
        }
        other => return Err(format!("nobody knows what {other} needs").into()),
    })
}
