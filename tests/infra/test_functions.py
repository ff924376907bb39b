"""Every function: what it runs on, what it is told, what it may do."""

import re
from pathlib import Path

import pytest
from stack import Stack, allowed, listed

ROOT = Path(__file__).parents[2]
TEMPLATE_TEXT = (ROOT / "infra/template.yaml").read_text()
STACK = Stack()
EVERYTHING = Stack(
    FunctionUrls="true",
    AlarmEmail="ops@example.com",
    DomainName="mcp.example.com",
    CertificateArn="arn:aws:acm:us-east-1:123456789012:certificate/x",
    ReservedConcurrency=10,
)
FUNCTIONS = STACK.of("AWS::Lambda::Function")
TABLE = "arn:aws:dynamodb:eu-central-1:123456789012:table/<ChecklistsTable>"
INDEX = f"{TABLE}/index/by_status"

# The SDK's calls, as IAM names what they do. A transaction is asked for as what it consists of.
ACTIONS = {
    "get_item": {"GetItem"},
    "query": {"Query"},
    "put_item": {"PutItem"},
    "update_item": {"UpdateItem"},
    "delete_item": {"DeleteItem"},
    "batch_write_item": {"BatchWriteItem"},
    "transact_write_items": {"PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"},
}


def test_a_product_that_is_not_chosen_leaves_nothing_behind():
    assert set(Stack(Checklists="false").resources) == {"Alarms"}
    assert Stack(Checklists="false").outputs == {}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_runs_on_what_the_suite_is_built_for(name):
    function = FUNCTIONS[name]
    assert function["Runtime"] == "provided.al2023"
    assert function["Architectures"] == ["arm64"]
    assert function["MemorySize"] == 256
    metadata = STACK.resources[name]["Metadata"]
    assert metadata["BuildMethod"] == "rust-cargolambda"
    binaries = {each.stem for each in ROOT.glob("functions/*/src/bin/*.rs")}
    assert metadata["BuildProperties"]["Binary"] in binaries
    # The package's own folder: cargo looks for a binary in the default members of the workspace if it is called at its top.
    source = re.search(rf"  {name}:\n(?:    .*\n|\n)*?      CodeUri: (\S+)", TEMPLATE_TEXT)[1]
    assert (ROOT / "infra" / source / "src/bin" / f"{metadata['BuildProperties']['Binary']}.rs").exists()


def test_every_binary_is_deployed():
    deployed = {each["Metadata"]["BuildProperties"]["Binary"] for each in STACK.resources.values() if "Metadata" in each}
    assert deployed == {each.stem for each in ROOT.glob("functions/*/src/bin/*.rs")}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_is_told_exactly_the_settings_that_it_reads(name):
    settings = (ROOT / "functions/checklists/src/settings.rs").read_text()
    read = set(re.findall(r'(?:required|optional|calls)\("([A-Z_]+)"', settings))
    variables = EVERYTHING.of("AWS::Lambda::Function")[name]["Environment"]["Variables"]
    # Endpoints are for `sam local`, which puts them in.
    told = {each for each, value in variables.items() if not each.startswith("AWS_ENDPOINT_URL_")}
    assert all(variables[each] == "" for each in variables.keys() - told)
    # GENERATION is read by nobody: that it changes is what starts new instances. ORIGIN_SECRET is told to a function behind
    # CloudFront before there is code that reads it.
    assert told - {"GENERATION", "ORIGIN_SECRET"} == read
    assert "ORIGIN_SECRET" not in FUNCTIONS[name]["Environment"]["Variables"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_logs_as_json_into_a_group_that_forgets(name):
    logging = FUNCTIONS[name]["LoggingConfig"]
    assert (logging["LogFormat"], logging["SystemLogLevel"], logging["ApplicationLogLevel"]) == ("JSON", "WARN", "INFO")
    assert STACK.of("AWS::Logs::LogGroup")[logging["LogGroup"].strip("<>")]["RetentionInDays"] == 30
    assert Stack(LogRetentionDays=7).of("AWS::Logs::LogGroup")["ChecklistsLog"]["RetentionInDays"] == 7


def test_concurrency_is_reserved_only_on_demand():
    assert all("ReservedConcurrentExecutions" not in each for each in FUNCTIONS.values())
    assert all(each["ReservedConcurrentExecutions"] == 10 for each in EVERYTHING.of("AWS::Lambda::Function").values())


def test_each_has_a_role_of_its_own():
    roles = [each["Role"] for each in FUNCTIONS.values()]
    assert len(set(roles)) == len(roles)
    assert {f"<{name}.Arn>" for name in STACK.of("AWS::IAM::Role")} == set(roles)


def statements():
    for name, policy in EVERYTHING.of("AWS::IAM::ManagedPolicy").items():
        for statement in policy["PolicyDocument"]["Statement"]:
            yield name, statement


def test_no_policy_is_open_ended():
    for name, statement in statements():
        for action in listed(statement["Action"]):
            assert "*" not in action, name
            assert not re.search(r"Scan|PartiQL|CreateTable|DeleteTable|Backup|Restore", action), name
        for resource in listed(statement["Resource"]):
            assert "*" not in resource, name
    for name, role in EVERYTHING.of("AWS::IAM::Role").items():
        assert "Policies" not in role and all(each.startswith("<") for each in role["ManagedPolicyArns"]), name


def test_every_right_on_a_table_names_its_partitions_and_demands_that_some_are_named():
    for name, statement in statements():
        if any(each.startswith("dynamodb:") for each in listed(statement["Action"])):
            condition = statement["Condition"]
            assert set(condition) == {"ForAllValues:StringLike", "Null"}, name
            assert condition["Null"] == {"dynamodb:LeadingKeys": "false"}, name


def test_the_table_code_makes_no_call_that_is_not_granted_and_is_granted_none_that_it_does_not_make():
    source = "".join(each.read_text() for each in ROOT.glob("shared/cloud/src/table/*.rs") if each.name != "provision.rs")
    operations = set(re.findall(r"\.client\s*\.(\w+)\(\)", source)) - {"clone"}
    assert operations == ACTIONS.keys()
    granted = {each for _, statement in statements() for each in listed(statement["Action"]) if each.startswith("dynamodb:")}
    assert granted == {f"dynamodb:{action}" for operation in operations for action in ACTIONS[operation]}


def test_a_key_can_be_checked_and_used_and_not_made_listed_or_deleted():
    key = ["K#0123456789ab"]
    for action in ("GetItem", "UpdateItem", "ConditionCheckItem"):
        assert allowed(STACK, "ChecklistsMcpRole", f"dynamodb:{action}", TABLE, key)
    for action in ("PutItem", "DeleteItem", "BatchWriteItem", "Query", "Scan"):
        assert not allowed(STACK, "ChecklistsMcpRole", f"dynamodb:{action}", TABLE, key)


def test_a_link_can_be_written_and_not_read():
    assert allowed(STACK, "ChecklistsMcpRole", "dynamodb:PutItem", TABLE, ["L#r-1"])
    for action in ("GetItem", "Query", "DeleteItem"):
        assert not allowed(STACK, "ChecklistsMcpRole", f"dynamodb:{action}", TABLE, ["L#r-1"])


def test_an_organisation_s_partitions_are_open_and_no_others():
    assert allowed(STACK, "ChecklistsMcpRole", "dynamodb:Query", TABLE, ["org-1#A"])
    assert allowed(STACK, "ChecklistsMcpRole", "dynamodb:Query", INDEX, ["org-1#L#active"])
    assert not allowed(STACK, "ChecklistsMcpRole", "dynamodb:Query", INDEX, ["K#0123456789ab"])
    assert not allowed(STACK, "ChecklistsMcpRole", "dynamodb:GetItem", TABLE, ["somebody"])
    # One foreign partition among good ones spoils the batch.
    assert not allowed(STACK, "ChecklistsMcpRole", "dynamodb:BatchWriteItem", TABLE, ["org-1#A", "K#0123456789ab"])
    assert not allowed(STACK, "ChecklistsMcpRole", "dynamodb:GetItem", f"{TABLE}-of-another", ["org-1#A"])


@pytest.mark.parametrize("action", ["Scan", "PartiQLSelect", "Query", "BatchWriteItem"])
def test_a_request_that_names_no_partition_is_refused(action):
    assert not allowed(STACK, "ChecklistsMcpRole", f"dynamodb:{action}", TABLE)


def test_only_the_product_s_own_secrets_and_log_can_be_reached():
    role = "ChecklistsMcpRole"
    assert allowed(STACK, role, "secretsmanager:GetSecretValue", "<ChecklistsPepper>")
    assert not allowed(STACK, role, "secretsmanager:GetSecretValue", "<Other>")
    assert not allowed(STACK, role, "secretsmanager:PutSecretValue", "<ChecklistsPepper>")
    assert not allowed(STACK, role, "secretsmanager:GetSecretValue", "<ChecklistsOriginSecret>")
    assert allowed(EVERYTHING, role, "secretsmanager:GetSecretValue", "<ChecklistsOriginSecret>")
    assert allowed(STACK, role, "logs:PutLogEvents", "<ChecklistsLog.Arn>")
    assert not allowed(STACK, role, "logs:PutLogEvents", "<Other.Arn>")
