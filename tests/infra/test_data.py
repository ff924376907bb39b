"""Tables and secrets: made as the code expects them, and kept when everything else goes."""

import re
import string
from pathlib import Path

from stack import Stack

ROOT = Path(__file__).parents[2]
STACK = Stack()


def test_tables_are_kept_protected_and_can_be_restored():
    tables = STACK.of("AWS::DynamoDB::Table")
    assert tables
    for name, table in tables.items():
        assert STACK.resources[name]["DeletionPolicy"] == STACK.resources[name]["UpdateReplacePolicy"] == "Retain"
        assert table["DeletionProtectionEnabled"] is True
        assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
        assert table["BillingMode"] == "PAY_PER_REQUEST"
        # A name of its own would stand in the way of the next one.
        assert "TableName" not in table


def test_the_table_of_checklists_is_the_one_its_store_is_written_for():
    table = STACK.of("AWS::DynamoDB::Table")["ChecklistsTable"]
    key = lambda schema: {each["KeyType"]: each["AttributeName"] for each in schema}
    source = (ROOT / "shared/cloud/src/table/key.rs").read_text()
    pk, sk = (re.search(rf'const {name}: &str = "(\w+)"', source)[1] for name in ("PK", "SK"))
    assert key(table["KeySchema"]) == {"HASH": pk, "RANGE": sk}
    purge_at = re.search(r'const PURGE_AT: &str = "(\w+)"', (ROOT / "shared/cloud/src/table/mod.rs").read_text())[1]
    assert table["TimeToLiveSpecification"] == {"AttributeName": purge_at, "Enabled": True}

    store = (ROOT / "functions/checklists/src/store/mod.rs").read_text()
    designed = dict(re.findall(r'Index \{ name: "(\w+)", partition: "(\w+)" \}', store))
    made = {each["IndexName"]: each for each in table["GlobalSecondaryIndexes"]}
    assert made.keys() == designed.keys()
    for name, index in made.items():
        assert key(index["KeySchema"]) == {"HASH": designed[name], "RANGE": sk}
        assert index["Projection"] == {"ProjectionType": "ALL"}
    assert {each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]} == dict.fromkeys(
        [pk, sk, *designed.values()], "S"
    )


def test_no_secret_has_a_value_in_the_template():
    everything = Stack(DomainName="mcp.example.com", CertificateArn="arn:aws:acm:us-east-1:123456789012:certificate/x")
    secrets = everything.of("AWS::SecretsManager::Secret")
    assert len(secrets) == 2
    assert all("SecretString" not in each and each["GenerateSecretString"] for each in secrets.values())


def test_a_pepper_is_made_of_64_hexadecimal_digits_and_kept():
    assert STACK.resources["ChecklistsPepper"]["DeletionPolicy"] == "Retain"
    assert STACK.resources["ChecklistsPepper"]["UpdateReplacePolicy"] == "Retain"
    made = STACK.of("AWS::SecretsManager::Secret")["ChecklistsPepper"]["GenerateSecretString"]
    letters = set(string.ascii_letters + string.digits + string.punctuation)
    assert letters - set(made["ExcludeCharacters"]) == set("0123456789abcdef")
    # Said twice: Secrets Manager refuses a kind of character that is demanded and of which none is left.
    assert made["ExcludeUppercase"] and made["ExcludePunctuation"] and made["RequireEachIncludedType"] is False
    assert made["PasswordLength"] == 64


def test_a_restored_table_and_a_kept_secret_take_the_place_of_new_ones():
    other = Stack(ChecklistsTableName="restored", ChecklistsPepperArn="arn:aws:secretsmanager:kept")
    assert not other.of("AWS::DynamoDB::Table") and not other.of("AWS::SecretsManager::Secret")
    told = other.of("AWS::Lambda::Function")["ChecklistsMcp"]["Environment"]["Variables"]
    assert (told["TABLE"], told["PEPPER_SECRET"]) == ("restored", "arn:aws:secretsmanager:kept")
    assert (other.outputs["ChecklistsTable"], other.outputs["ChecklistsPepper"]) == ("restored", "arn:aws:secretsmanager:kept")
    # Nothing else speaks of the table that is not made.
    assert "ChecklistsTable>" not in str(other.resources) and "ChecklistsPepper>" not in str(other.resources)


def test_what_can_be_tagged_says_which_product_it_is_of():
    without_tags = {
        "AWS::ApiGatewayV2::Integration",
        "AWS::ApiGatewayV2::Route",
        "AWS::Budgets::Budget",
        "AWS::CloudWatch::Dashboard",
        "AWS::IAM::ManagedPolicy",
        "AWS::Lambda::Permission",
        "AWS::Lambda::Url",
        "AWS::Logs::MetricFilter",
    }
    everything = Stack(FunctionUrls="true", AlarmEmail="a@b.example", DomainName="mcp.example.com", CertificateArn="x")
    for name, resource in everything.resources.items():
        if resource["Type"] not in without_tags:
            tags = resource["Properties"]["Tags"]
            tags = tags if isinstance(tags, dict) else {each["Key"]: each["Value"] for each in tags}
            assert tags["product"] == ("checklists" if name.startswith("Checklists") else "all"), name
