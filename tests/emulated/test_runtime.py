"""The shipped binary under Amazon's own runtime front answers as the local stack does, to the byte.

Behind both is one table, the local stack's. The function has its pepper from another implementation of Secrets Manager.
"""

import json
import os
import zlib
from urllib.parse import urlsplit

import boto3
import pytest
from cases import READING, WORK, Request, alike, call
from function import OF_AWS, emulated, passed_on
from processes import local_stack, ministack, said
from stack import listed
from table_door import STACK, TableDoor

FUNCTION, ONEPOST, ADMIN, MINISTACK = (os.environ[name] for name in ("FUNCTION", "ONEPOST", "ADMIN", "MINISTACK"))
# What only the transport knows, and the request's own name.
NOT_COMPARED = {"connection", "content-length", "date", "x-request-id"}


class Both:
    """The local stack and the function, on one table."""

    def __init__(self, local, key, function, door, admin, organisation):
        self.local, self.key, self.function, self.door = urlsplit(local), key, function, door
        self.admin, self.organisation = admin, organisation

    def headers(self, request):
        key = {"good": self.key, "unknown": unknown_key()}.get(request.key, request.key)
        return {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {}) | request.headers

    def from_local(self, request):
        prefix = self.local.path.removesuffix("/mcp")
        return told(passed_on(self.local.netloc, request.method, prefix + request.path, self.headers(request), request.body))

    def from_function(self, request, **how):
        return told(self.function.answer(request.method, request.path, self.headers(request), request.body, **how))


def told(answer):
    status, headers, body = answer
    headers = {name.lower(): value for name, value in headers.items()}
    return status, {name: value for name, value in headers.items() if name not in NOT_COMPARED}, body


def unknown_key():
    """Well formed, so that the table is asked: the checksum is right."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    before = "rdk_live_" + "0" * 34
    rest, text = zlib.crc32(before.encode()), ""
    for _ in range(6):
        rest, digit = divmod(rest, 62)
        text = digits[digit] + text
    return before + text


def secrets_manager(url):
    names = {"region_name": "eu-central-1", "aws_access_key_id": "test", "aws_secret_access_key": "test"}
    return boto3.client("secretsmanager", endpoint_url=url, **names)


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runtime")
    with local_stack(ONEPOST, folder) as (engines, endpoint), ministack(MINISTACK, folder) as aws:
        name = engines["checklists"]["pepper_secret"]
        pepper = secrets_manager(engines["secretsmanager"]).get_secret_value(SecretId=name)
        vault = secrets_manager(aws)
        vault.create_secret(Name=name, SecretString="0" * 64)
        # Digests are kept by the pepper's version, so that goes along. What was first is now the previous version.
        vault.put_secret_value(SecretId=name, SecretString=pepper["SecretString"], ClientRequestToken=pepper["VersionId"])
        admin = lambda *words: json.loads(said([ADMIN, "--data", folder / "data", "--json", *words]))
        # A key that nobody has used: its first use is written down.
        organisation, owner, key = fresh(admin)
        door = TableDoor(engines["dynamodb"], "ChecklistsMcpRole")
        with door.open() as table:
            settings = {
                "TABLE": engines["checklists"]["table"],
                "PEPPER_SECRET": name,
                "SITE": endpoint["mcp"].removesuffix("/mcp"),
                "AWS_ENDPOINT_URL_DYNAMODB": table,
                "AWS_ENDPOINT_URL_SECRETS_MANAGER": aws,
            }
            with emulated(FUNCTION, folder, **settings) as function:
                yield Both(endpoint["mcp"], key, function, door, admin, organisation)


def fresh(admin):
    founded = admin("org", "create", "Acme", "--owner-name", "Ann", "--owner-email", "ann@acme.example")
    organisation, owner = founded["organisation"]["id"], founded["owner"]["user_id"]
    return organisation, owner, admin("keys", "mint", organisation, "--creator", owner, "--name", "test")["key"]


def worked(send):
    """The answers to a day's work, and what it made."""
    made, answers = {}, []
    for name, tool, arguments in WORK:
        text = json.dumps(arguments)
        for placeholder, id in made.items():
            text = text.replace("{" + placeholder + "}", id)
        status, headers, body = send(call(tool, json.loads(text)))
        answers.append((tool, status, headers, alike(body.decode())))
        if name:
            result = json.loads(body)["result"]["structuredContent"]
            made[name] = result.get("id") or result["run_id"]
    return answers, made


def test_a_day_s_work_is_answered_alike(both):
    # The function first: who meets the key first writes down that it is used.
    function, made = worked(lambda body: both.from_function(Request("work", body)))
    local, _ = worked(lambda body: both.from_local(Request("work", body)))
    assert len(made) == 3
    for here, there in zip(local, function, strict=True):
        assert here == there


@pytest.fixture(scope="module")
def furnished(both):
    """Something to list: what reads meet is the same for both."""
    send = lambda tool, arguments: json.loads(both.from_function(Request("", call(tool, arguments)))[2])["result"]["structuredContent"]
    for name in ("Flat", "House"):
        asset = send("create_asset", {"name": name})
    template = send("create_template", {"name": "T", "sections": [{"steps": [{"type": "boolean", "label": "l"}]}]})
    send("create_run", {"template_id": template["id"], "asset_id": asset["id"], "expires_in_hours": 1})
    return both


@pytest.mark.parametrize("request_", READING, ids=lambda request: request.what)
def test_is_answered_to_the_byte(furnished, request_):
    here, there = furnished.from_local(request_), furnished.from_function(request_)
    if b"next_cursor" in here[2]:
        # Sealed anew each time.
        here, there = ((*each[:2], alike(each[2].decode())) for each in (here, there))
    assert there == here
    assert furnished.from_function(request_, in_base64=True)[:2] == here[:2]


def test_a_member_is_removed_by_either(both):
    for send in (both.from_local, both.from_function):
        member = both.admin("members", "add", both.organisation, "--name", "Bo", "--email", "bo@acme.example")
        status, _, body = send(Request("", call("remove_member", {"user_id": member["user_id"]})))
        assert status == 200 and b"isError" not in body, body


def test_an_invitation_without_a_mail_server_is_refused_readably(both):
    _, _, body = both.from_function(Request("", call("invite_member", {"email": "cy@acme.example", "role": "member"})))
    result = json.loads(body)["result"]
    assert result["isError"] is True and "error" in json.loads(result["content"][0]["text"]), body


def test_an_event_that_is_no_request_is_answered(both):
    assert both.function.invoke({"detail-type": "Scheduled Event"})["statusCode"] == 501
    assert both.function.invoke({"httpMethod": "POST", "path": "/mcp"})["statusCode"] == 501


def test_a_line_of_json_is_logged_for_each_call_and_holds_no_secret(furnished):
    before = len(furnished.function.lines())
    furnished.from_function(Request("", call("list_assets", {})))
    (line,) = furnished.function.lines()[before:]
    assert line["level"] == "INFO" and line["call"] == "list_assets" and line["status"] == 200 and line["reads"] > 0
    assert line["key"] == furnished.key.removeprefix("rdk_live_")[:12]
    log = furnished.function.log.read_text()
    assert furnished.key not in log and furnished.organisation not in log and "Quay Street" not in log


def test_the_role_has_every_right_that_was_used(furnished):
    """Last in this file: it looks back on all the others."""
    assert furnished.door.refused == []


def test_every_right_of_the_role_was_used(furnished):
    granted = set()
    for policy in STACK.of("AWS::IAM::ManagedPolicy").values():
        for statement in policy["PolicyDocument"]["Statement"]:
            for action in listed(statement["Action"]):
                if action.startswith("dynamodb:"):
                    (of,) = statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
                    granted.add((action, "/index/" in str(statement["Resource"]), of))
    assert granted - furnished.door.used == set()


def test_a_function_without_its_pepper_does_not_start_and_says_why(tmp_path):
    with ministack(MINISTACK, tmp_path) as aws:
        settings = {"TABLE": "t", "PEPPER_SECRET": "missing", "SITE": "https://x.example", "AWS_ENDPOINT_URL": aws}
        with emulated(FUNCTION, tmp_path, **settings) as function:
            with pytest.raises(json.JSONDecodeError):
                function.invoke({})
            log = function.log.read_text()
            assert "missing" in log and "Secrets Manager can't find the specified secret" in log
