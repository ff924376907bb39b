//! A demo organisation, so that a newcomer's first call has something to show.

use checklists_rules::{Template, sample};
use onepost_core::error::ToolError;
use onepost_core::id::Ids;
use serde_json::json;

use crate::assets::Asset;
use crate::members::Role;
use crate::operator::Desk;
use crate::store::Organisation;

/// Makes the organisation with an owner, an admin and a member, an asset, and a template with every type of step.
pub async fn plant(desk: &Desk, ids: &Ids) -> Result<Organisation, ToolError> {
    let (organisation, _) = desk.create_organisation("Harbour Holidays", "Olive Owner", "olive@harbour.example").await?;
    desk.add_member(&organisation.id, "Adam Admin", "adam@harbour.example", Role::Admin).await?;
    desk.add_member(&organisation.id, "Mia Member", "mia@harbour.example", Role::Member).await?;

    let (org, now) = (desk.org(&organisation.id), organisation.created_at);
    let fields = json!({ "address": "3 Quay Street", "bedrooms": 2, "key_safe": true });
    let asset = Asset {
        id: ids.time_ordered("a", now),
        name: "Seagull Flat".to_owned(),
        fields: fields.as_object().cloned().unwrap_or_default(),
        created_at: now,
        updated_at: now,
    };
    desk.store().add_asset(&org, &asset, now).await?;

    let template = Template::from_document(sample::every_step_type(), &mut |kind| format!("{}{}", kind.prefix(), ids.base36(6)));
    let template = template.map_err(|faults| ToolError::internal(format!("the demo template does not hold: {faults:?}")))?;
    desk.store().add_template(&org, &ids.time_ordered("t", now), template, now).await?;
    Ok(organisation)
}

/// A key of the demo organisation's first owner.
pub async fn key(desk: &Desk, org_id: &str) -> Result<String, ToolError> {
    let members = desk.members(org_id).await?;
    let owner = members.iter().find(|member| member.role == Role::Owner);
    let owner = owner.ok_or_else(|| ToolError::internal("an organisation without an owner"))?;
    let key = desk.mint_key(org_id, &owner.user_id, "local stack", None).await?;
    Ok(key.plain.reveal().to_owned())
}
