"""`sam deploy` of the template into an AWS emulator, and a real client against what comes out of it."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import boto3
import pytest
from function import OF_AWS, passed_on, served
from processes import ministack, said, until

ROOT = Path(__file__).parents[2]
FUNCTION, ADMIN, MINISTACK, CLIENT = (os.environ[name] for name in ("FUNCTION", "ADMIN", "MINISTACK", "CLIENT"))


class Deployment:
    def __init__(self, url, outputs):
        self.url, self.outputs = url, outputs
        self.environment = OF_AWS | {"AWS_ENDPOINT_URL": url, "AWS_DEFAULT_REGION": OF_AWS["AWS_REGION"]}

    def aws(self, service):
        return boto3.client(
            service,
            endpoint_url=self.url,
            region_name=OF_AWS["AWS_REGION"],
            aws_access_key_id=OF_AWS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=OF_AWS["AWS_SECRET_ACCESS_KEY"],
        )

    def admin(self, *words):
        place = ["--table", self.outputs["ChecklistsTable"], "--pepper-secret", self.outputs["ChecklistsPepper"]]
        return json.loads(said([ADMIN, "--json", *place, *words], **self.environment))

    def through(self, output):
        """A server on this machine that leads to one of the stack's doors: the emulator tells them apart by the host."""
        host = urlsplit(self.outputs[output]).netloc
        address = urlsplit(self.url).netloc
        to = lambda method, path, headers, body: passed_on(address, method, path, headers | {"Host": host}, body)
        return served(to)


def emulator_s(template, code):
    """The template as this emulator takes it, and beside that as it is."""
    from samcli.yamlhelper import yaml_dump, yaml_parse

    template = yaml_parse(template.read_text())
    # What `sam build` puts there.
    for name, resource in template["Resources"].items():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"]["CodeUri"] = str(code / resource["Metadata"]["BuildProperties"]["Binary"])
    # It refuses alarms on more than one metric.
    computed = [n for n, r in template["Resources"].items() if r["Type"] == "AWS::CloudWatch::Alarm" and "Metrics" in r["Properties"]]
    for name in computed:
        del template["Resources"][name]
    return yaml_dump(template)


@pytest.fixture(scope="module")
def deployment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("deployment")
    code = folder / "code" / "checklists-mcp"
    code.mkdir(parents=True)
    (code / "bootstrap").write_bytes(Path(FUNCTION).read_bytes())
    (code / "bootstrap").chmod(0o755)
    (folder / "template.yaml").write_text(emulator_s(ROOT / "infra/template.yaml", folder / "code"))
    with ministack(MINISTACK, folder) as url:
        deployment = Deployment(url, {})
        sam = [Path(sys.executable).parent / "sam", "deploy", "--template-file", folder / "template.yaml", "--stack-name", "onepost"]
        sam += ["--resolve-s3", "--capabilities", "CAPABILITY_IAM", "--no-confirm-changeset", "--no-progressbar"]
        said([*sam, "--parameter-overrides", "Architecture=x86_64", "FunctionUrls=true"], **deployment.environment)
        (stack,) = deployment.aws("cloudformation").describe_stacks(StackName="onepost")["Stacks"]
        deployment.outputs = {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}
        yield deployment


@pytest.fixture(scope="module")
def key(deployment):
    founded = deployment.admin("org", "create", "Acme", "--owner-name", "Ann", "--owner-email", "ann@acme.example")
    owner, organisation = founded["owner"]["user_id"], founded["organisation"]["id"]
    return deployment.admin("keys", "mint", organisation, "--creator", owner, "--name", "test")["key"]


def called(url, key, body=b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'):
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def test_the_stack_is_what_the_template_says(deployment):
    table = deployment.aws("dynamodb").describe_table(TableName=deployment.outputs["ChecklistsTable"])["Table"]
    assert table["DeletionProtectionEnabled"] and table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert [index["IndexName"] for index in table["GlobalSecondaryIndexes"]] == ["by_status"]
    (function,) = deployment.aws("lambda").list_functions()["Functions"]
    assert function["MemorySize"] == 256 and function["Timeout"] == 25 and function["Runtime"] == "provided.al2023"
    assert function["LoggingConfig"]["LogGroup"] == deployment.outputs["ChecklistsLog"]
    groups = deployment.aws("logs").describe_log_groups()["logGroups"]
    assert {each["logGroupName"]: each.get("retentionInDays") for each in groups}[deployment.outputs["ChecklistsLog"]] == 30


def test_the_pepper_that_was_generated_is_one(deployment):
    pepper = deployment.aws("secretsmanager").get_secret_value(SecretId=deployment.outputs["ChecklistsPepper"])["SecretString"]
    assert len(bytes.fromhex(pepper)) == 32


@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
def test_a_real_client_works_through_the_function_url(deployment, key, mode):
    drive = [f"{CLIENT}/bin/python", ROOT / "tests/clients/python_mcp/drive.py"]
    calls = [["create_asset", {"name": f"Flat of {mode}"}], ["list_assets", {}]]
    with deployment.through("ChecklistsUrl") as url:
        done = subprocess.run([*drive, f"{url}/mcp", key, mode], input=json.dumps(calls), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert len(told["tools"]) == 17 and "create_run" in told["tools"]
    made, listed = (answer["structuredContent"] for answer in told["answers"])
    assert made["id"] in [each["id"] for each in listed["data"]]


def test_both_doors_lead_to_the_same_answer(deployment, key):
    with deployment.through("ChecklistsUrl") as url, deployment.through("ChecklistsEndpoint") as api:
        for path in ("/mcp", "/mcp/", "/elsewhere"):
            assert called(url + path, key) == called(api + path, key)
            assert called(url + path, "none") == called(api + path, "none")
        assert called(f"{api}/mcp", key)[0] == 200
        assert called(f"{api}/mcp", "none")[0] == 401
        assert called(f"{api}/elsewhere", key)[0] == 404


def test_links_lead_to_the_http_api(deployment, key):
    with deployment.through("ChecklistsUrl") as url:
        ask = lambda tool, arguments: json.loads(
            called(
                f"{url}/mcp",
                key,
                json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}).encode(),
            )[1]
        )["result"]["structuredContent"]
        template = ask("create_template", {"name": "T", "sections": [{"steps": [{"type": "boolean", "label": "l"}]}]})
        run = ask("create_run", {"template_id": template["id"]})
    assert run["link"] == deployment.outputs["ChecklistsEndpoint"].removesuffix("/mcp") + "/r/" + run["run_id"]


def test_a_rotated_pepper_lets_old_keys_in(deployment, key):
    """The steps of docs/operate.md. The next rotation then ends only keys that were not used since this one."""
    secrets, functions = deployment.aws("secretsmanager"), deployment.aws("lambda")
    pepper = deployment.outputs["ChecklistsPepper"]
    before = secrets.get_secret_value(SecretId=pepper)["VersionId"]

    def rotated():
        # A new value, then what another Generation does: a variable of the environment changes, and instances start anew.
        secrets.put_secret_value(SecretId=pepper, SecretString=os.urandom(32).hex())
        (function,) = functions.list_functions()["Functions"]
        variables = function["Environment"]["Variables"] | {"GENERATION": os.urandom(4).hex()}
        functions.update_function_configuration(FunctionName=function["FunctionName"], Environment={"Variables": variables})

    with deployment.through("ChecklistsUrl") as url:
        for _ in range(2):
            rotated()
            # Each use stores the key's digest under the new version, which carries it over the next rotation.
            assert called(f"{url}/mcp", key)[0] == 200
    table = deployment.aws("dynamodb")
    row = table.get_item(TableName=deployment.outputs["ChecklistsTable"], Key={"pk": {"S": f"K#{key.removeprefix('rdk_live_')[:12]}"}, "sk": {"S": "K"}})
    versions = set(row["Item"]["digests"]["M"])
    assert before not in versions and len(versions) == 2


def test_what_holds_data_outlives_the_stack(deployment):
    """Last in this file."""
    cloudformation = deployment.aws("cloudformation")
    cloudformation.delete_stack(StackName="onepost")
    gone = lambda: all(each["StackStatus"] == "DELETE_COMPLETE" for each in cloudformation.list_stacks()["StackSummaries"] if each["StackName"] == "onepost")
    until(gone, "the stack is not deleted")
    assert deployment.aws("dynamodb").describe_table(TableName=deployment.outputs["ChecklistsTable"])
    assert deployment.aws("secretsmanager").get_secret_value(SecretId=deployment.outputs["ChecklistsPepper"])
    assert not deployment.aws("lambda").list_functions()["Functions"]
