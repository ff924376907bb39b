//! Members and invitations: who may what at this moment, and what reaches an invited person.

use checklists::members::Role;
use checklists::operator::PlanChange;
use dynoxide::AttributeValue;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::world::{Said, World};

async fn invite(world: &World, email: &str) -> Said {
    world.call("invite_member", json!({ "email": email })).await
}

async fn remove(world: &World, key: &str, user_id: &str) -> Said {
    world.call_with(key, "remove_member", json!({ "user_id": user_id })).await
}

async fn invitations(world: &World) -> Value {
    world.call("list_members", json!({})).await.done()["invitations"].clone()
}

#[tokio::test]
async fn members_are_listed_as_they_joined_with_the_open_invitations() {
    let world = World::new().await;
    world.clock.advance(SignedDuration::from_mins(1));
    let (ada, _) = world.colleague("ada@home.example", Role::Admin).await;
    let invited = invite(&world, "new@home.example").await.done();
    let owner = &world.home.owner;
    let expected = json!({
        "data": [
            { "user_id": owner.user_id, "name": "Olive Owner", "email": "olive@home.example", "role": "owner", "joined_at": "2026-05-22T08:31:00Z" },
            { "user_id": ada.user_id, "name": "A colleague", "email": "ada@home.example", "role": "admin", "joined_at": "2026-05-22T08:32:00Z" },
        ],
        "invitations": [
            { "invitation_id": invited["invitation_id"], "email": "new@home.example", "role": "member", "expires_at": "2026-05-29T08:32:00Z" },
        ],
    });
    assert_eq!(world.call("list_members", json!({})).await.done(), expected);
}

#[tokio::test]
async fn an_invitation_is_mailed_with_a_link_whose_token_is_nowhere_else() {
    let world = World::new().await;
    let sent = world.call("invite_member", json!({ "email": " New@Home.Example ", "role": "admin" })).await.done();
    let id = sent["invitation_id"].as_str().unwrap();
    let expected = json!({
        "invitation_id": id, "email": "new@home.example", "role": "admin", "status": "pending", "expires_at": "2026-05-29T08:31:00Z",
    });
    assert_eq!(sent, expected);
    let mails = world.outbox.sent();
    assert_eq!((mails.len(), mails[0].to.as_str()), (1, "new@home.example"));
    let mail = &mails[0].body;
    let (_, token) = mail.split_once(&format!("https://checklists.example/i/{id}/")).unwrap_or_else(|| panic!("no link in {mail}"));
    let token = token.lines().next().unwrap();
    assert_eq!(token.len(), 32);
    assert!(mail.contains("Home") && mail.contains("Olive Owner"), "who invites, and where to: {mail}");
    assert!(mail.contains("as admin") && mail.contains("29 May 2026, 08:31 UTC"), "{mail}");
    assert!(!sent.to_string().contains(token), "{sent}");
    // The row holds the token's digest and nothing that opens the invitation.
    let rows = world.rows();
    assert!(!format!("{rows:?}").contains(token));
    let digest = ring::digest::digest(&ring::digest::SHA256, token.as_bytes());
    assert!(rows.iter().any(|row| row.get("token") == Some(&AttributeValue::B(digest.as_ref().to_vec()))));
}

#[tokio::test]
async fn nobody_is_invited_as_owner_or_at_what_is_no_address() {
    let world = World::new().await;
    for (arguments, place, rule) in [
        (json!({ "email": "new@home.example", "role": "owner" }), "/role", "enum"),
        (json!({ "email": "" }), "/email", "minLength"),
        (json!({ "email": format!("{}@home.example", "n".repeat(250)) }), "/email", "maxLength"),
        (json!({}), "/email", "required"),
        (json!({ "email": "new@home.example", "name": "New" }), "/name", "additionalProperties"),
    ] {
        assert_eq!(world.call("invite_member", arguments).await.violations(), [(place.to_owned(), rule.to_owned())]);
    }
    for email in
        ["new", "new@", "@home.example", "a b@home.example", "a@b@c", "New <new@home.example>", "new@home.example\r\nBcc: x@y.example"]
    {
        assert_eq!(invite(&world, email).await.code(), "invalid_argument", "{email}");
    }
    assert_eq!((invitations(&world).await, world.outbox.sent().len()), (json!([]), 0));
}

#[tokio::test]
async fn an_address_is_invited_once_joins_once_and_is_free_again_after_the_removal() {
    let world = World::new().await;
    let first = invite(&world, "new@home.example").await.done();
    let again = invite(&world, "NEW@home.example").await.refusal();
    assert_eq!((&again["error"], &again["details"]), (&json!("invitation_pending"), &json!({ "invitation_id": first["invitation_id"] })));
    assert_eq!(world.outbox.sent().len(), 1);

    let joined = world.desk.add_member(&world.home.organisation.id, "New", "new@home.example", Role::Member).await.unwrap();
    assert_eq!(invitations(&world).await, json!([]));
    let refused = invite(&world, "new@home.example").await;
    assert_eq!(refused.code(), "already_member");
    assert_eq!(refused.refusal().get("details"), None);

    remove(&world, &world.home.key, &joined.user_id).await.done();
    let fresh = invite(&world, "new@home.example").await.done();
    assert_ne!(fresh["invitation_id"], first["invitation_id"]);
    assert_eq!(remove(&world, &world.home.key, &joined.user_id).await.code(), "member_not_found");
    assert_eq!(world.call("list_members", json!({})).await.done()["data"].as_array().unwrap().len(), 1);
}

/// The clean-up of old rows never ran here.
#[tokio::test]
async fn an_invitation_that_has_ended_frees_its_address_at_that_moment() {
    let world = World::new().await;
    let first = invite(&world, "new@home.example").await.done();
    world.clock.advance(SignedDuration::from_hours(7 * 24) - SignedDuration::from_millis(1));
    assert_eq!(invite(&world, "new@home.example").await.code(), "invitation_pending");
    world.clock.advance(SignedDuration::from_millis(1));
    assert_eq!(invitations(&world).await, json!([]));
    let second = invite(&world, "new@home.example").await.done();
    assert_ne!(second["invitation_id"], first["invitation_id"]);
    assert_eq!(invitations(&world).await.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn an_invitation_whose_mail_fails_is_taken_back() {
    let world = World::new().await;
    world.outbox.break_down(true);
    let refused = invite(&world, "new@home.example").await.refusal();
    assert_eq!((&refused["error"], &refused["retry_after"]), (&json!("mail_unavailable"), &json!(60)));
    assert_eq!(invitations(&world).await, json!([]));
    let org = &world.home.organisation.id;
    let traces: Vec<_> = world.rows_under(&format!("{org}#O")).into_iter().filter(|row| row.contains_key("purge_at")).collect();
    assert_eq!(traces, [], "neither the invitation nor its hold on the address is left");
    world.outbox.break_down(false);
    invite(&world, "new@home.example").await.done();

    // What would fail again is told otherwise, and taken back all the same.
    let refused = invite(&world, "refused@home.example").await.refusal();
    assert_eq!((&refused["error"], refused.get("retry_after")), (&json!("mail_refused"), None));
    assert_eq!(invite(&world, "refused@home.example").await.code(), "mail_refused");
    assert_eq!(invitations(&world).await.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn the_plan_limits_members_and_a_removal_makes_room() {
    let world = World::new().await;
    let (ada, _) = world.colleague("ada@home.example", Role::Member).await;
    let plan = PlanChange { members: Some(2), ..PlanChange::default() };
    world.desk.change_plan(&world.home.organisation.id, plan).await.unwrap();
    let refused = invite(&world, "new@home.example").await.refusal();
    assert_eq!((&refused["error"], &refused["details"]), (&json!("quota_exceeded"), &json!({ "limit": 2, "used": 2, "invited": 0 })));
    remove(&world, &world.home.key, &ada.user_id).await.done();
    invite(&world, "new@home.example").await.done();
    assert_eq!(world.outbox.sent().len(), 1);
    // Who is invited has a place kept.
    let refused = invite(&world, "other@home.example").await.refusal();
    assert_eq!(refused["details"], json!({ "limit": 2, "used": 1, "invited": 1 }));
}

/// What the maker of a key may do to whom, by the roles that both have.
#[tokio::test]
async fn what_a_key_may_do_follows_the_role_of_the_person_who_made_it() {
    use Role::{Admin, Member, Owner};
    type Removals = [(Role, &'static str); 3];
    let table: [(Role, &str, Removals); 3] = [
        (Owner, "done", [(Owner, "done"), (Admin, "done"), (Member, "done")]),
        (Admin, "done", [(Owner, "cannot_remove_owner"), (Admin, "done"), (Member, "done")]),
        (Member, "forbidden", [(Owner, "forbidden"), (Admin, "forbidden"), (Member, "forbidden")]),
    ];
    let ended = |said: Said| if let Said::Done(_) = said { "done".to_owned() } else { said.code().to_owned() };
    for (role, inviting, removals) in table {
        let world = World::new().await;
        let (actor, key) = world.colleague("actor@home.example", role).await;
        let invited = world.call_with(&key, "invite_member", json!({ "email": "new@home.example" })).await;
        assert_eq!(ended(invited), inviting, "{role:?} invites");
        for (of, expected) in removals {
            let (target, _) = world.colleague(&format!("{}@home.example", of.as_str()), of).await;
            assert_eq!(ended(remove(&world, &key, &target.user_id).await), expected, "{role:?} removes {of:?}");
        }
        let own = if role == Member { "forbidden" } else { "cannot_remove_self" };
        assert_eq!(ended(remove(&world, &key, &actor.user_id).await), own, "{role:?} removes themself");
        let nobody = if role == Member { "forbidden" } else { "member_not_found" };
        assert_eq!(ended(remove(&world, &key, "u-00000000-0000-4000-8000-000000000000").await), nobody, "{role:?} removes nobody");
        world.call_with(&key, "list_members", json!({})).await.done();
    }
}

#[tokio::test]
async fn a_demotion_and_a_removal_bite_at_once_and_only_for_members() {
    let world = World::new().await;
    let home = &world.home.organisation.id;
    let (ada, key) = world.colleague("ada@home.example", Role::Admin).await;
    let (mia, _) = world.colleague("mia@home.example", Role::Member).await;
    let refused = async || {
        assert_eq!(world.call_with(&key, "invite_member", json!({ "email": "new@home.example" })).await.code(), "forbidden");
        assert_eq!(remove(&world, &key, &mia.user_id).await.code(), "forbidden");
        world.call_with(&key, "create_asset", json!({ "name": "Van" })).await.done();
    };
    world.desk.set_role(home, &ada.user_id, Role::Member).await.unwrap();
    refused().await;
    world.desk.set_role(home, &ada.user_id, Role::Admin).await.unwrap();
    world.call_with(&key, "invite_member", json!({ "email": "new@home.example" })).await.done();
    world.desk.remove_member(home, &ada.user_id).await.unwrap();
    refused().await;
}

/// The role is a condition of the write itself, so that it is of no use to have been an admin a moment ago.
#[tokio::test]
async fn an_admin_who_is_demoted_between_the_look_and_the_write_is_refused() {
    for tool in ["invite_member", "remove_member"] {
        let world = World::new().await;
        let home = &world.home.organisation.id;
        let (ada, key) = world.colleague("ada@home.example", Role::Admin).await;
        let (mia, _) = world.colleague("mia@home.example", Role::Member).await;
        let arguments = if tool == "invite_member" { json!({ "email": "new@home.example" }) } else { json!({ "user_id": mia.user_id }) };
        let (arrived, release) = world.faults.hold("TransactWriteItems");
        let demotion = async {
            arrived.await.unwrap();
            world.desk.set_role(home, &ada.user_id, Role::Member).await.unwrap();
            release.send(()).unwrap();
        };
        let (said, ()) = futures_util::join!(world.call_with(&key, tool, arguments), demotion);
        assert_eq!(said.code(), "forbidden", "{tool}");
        assert_eq!((invitations(&world).await, world.outbox.sent().len()), (json!([]), 0), "{tool}");
        assert_eq!(world.desk.members(home).await.unwrap().len(), 3, "{tool}");
    }
}

#[tokio::test]
async fn a_member_whose_role_changes_while_they_are_removed_is_looked_at_again() {
    let world = World::new().await;
    let home = &world.home.organisation.id;
    let (_, key) = world.colleague("ada@home.example", Role::Admin).await;
    let (mia, _) = world.colleague("mia@home.example", Role::Member).await;
    let (arrived, release) = world.faults.hold("TransactWriteItems");
    let promotion = async {
        arrived.await.unwrap();
        world.desk.set_role(home, &mia.user_id, Role::Owner).await.unwrap();
        release.send(()).unwrap();
    };
    let (said, ()) = futures_util::join!(remove(&world, &key, &mia.user_id), promotion);
    assert_eq!((said.code(), &said.clone().refusal()["retry_after"]), ("busy", &json!(1)));
    assert_eq!(remove(&world, &key, &mia.user_id).await.code(), "cannot_remove_owner");
}

#[tokio::test]
async fn two_owners_who_remove_each_other_at_once_leave_one() {
    let world = World::new().await;
    let (ben, key) = world.colleague("ben@home.example", Role::Owner).await;
    let (arrived, release) = world.faults.hold("TransactWriteItems");
    let other = async {
        arrived.await.unwrap();
        let other = remove(&world, &key, &world.home.owner.user_id).await;
        release.send(()).unwrap();
        other
    };
    let (one, other) = futures_util::join!(remove(&world, &world.home.key, &ben.user_id), other);
    other.done();
    assert_eq!(one.code(), "forbidden");
    let left = world.desk.organisation(&world.home.organisation.id).await.unwrap();
    assert_eq!((left.n_owners, left.n_members), (1, 1));
    assert_eq!(world.desk.members(&left.id).await.unwrap()[0].user_id, ben.user_id);
}

#[tokio::test]
async fn the_last_owner_stays_for_the_operator_too() {
    let world = World::new().await;
    let (home, owner) = (&world.home.organisation.id, &world.home.owner.user_id);
    world.colleague("ada@home.example", Role::Admin).await;
    assert_eq!(world.desk.remove_member(home, owner).await.unwrap_err().code(), "cannot_remove_owner");
    assert_eq!(world.desk.set_role(home, owner, Role::Admin).await.unwrap_err().code(), "cannot_remove_owner");
    assert_eq!(world.desk.members(home).await.unwrap().iter().filter(|member| member.role == Role::Owner).count(), 1);
}
