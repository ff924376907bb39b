"""Every client, in each of its modes, against a running stack.

A folder here is a client: what it pins, and a driver. A driver is run as `drive URL KEY MODE` in the folder where its
client is installed, with the calls to make on standard input, [[tool, arguments], ...]. It prints one object of JSON,
{"tools": [name, ...], "answers": [result of a tool or {"error": message}, ...]}, or ends with a status other than 0 and
what its client said. What it prints and what passed the door is looked at here.

ENDPOINTS names the stack's endpoints.json and CLIENTS the folder of what is installed: tests/clients/run sets both.
"""

import functools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import urllib.request
from dataclasses import dataclass, field

import pytest
from door import Door

HERE = pathlib.Path(__file__).parent
DOCUMENTATION = HERE.parents[1] / "docs" / "clients.md"
CLIENTS = pathlib.Path(os.environ["CLIENTS"])
ENDPOINT = json.loads(pathlib.Path(os.environ["ENDPOINTS"]).read_text())["checklists"]
BAD_KEY = "rdk_live_wrong"
DOES = ("connect", "list", "call", "refusal", "bad key")


@dataclass(frozen=True)
class Row:
    """One client in one mode: how it begins, and the version that it ends up with."""

    folder: str
    mode: str
    begins: str
    protocol: str
    cells: dict = field(default_factory=dict, compare=False)

    def __str__(self):
        return f"{self.folder}, {self.mode}"


ROWS = [
    Row("python_mcp", "auto", "server/discover", "2026-07-28"),
    Row("python_mcp", "legacy", "initialize", "2025-11-25"),
    Row("python_mcp", "2026-07-28", "tools/list", "2026-07-28"),
    Row("python_mcp_1", "the only one", "initialize", "2025-11-25"),
    Row("fastmcp", "auto", "server/discover", "2026-07-28"),
    Row("fastmcp", "legacy", "initialize", "2025-11-25"),
    Row("fastmcp", "2026-07-28", "tools/list", "2026-07-28"),
    Row("typescript_client", "default", "initialize", "2025-11-25"),
    Row("typescript_client", "legacy", "initialize", "2025-11-25"),
    Row("typescript_client", "auto", "server/discover", "2026-07-28"),
    Row("typescript_client", "2026-07-28", "server/discover", "2026-07-28"),
    Row("typescript_sdk", "the only one", "initialize", "2025-11-25"),
    Row("inspector", "legacy", "initialize", "2025-11-25"),
    Row("inspector", "auto", "server/discover", "2026-07-28"),
    Row("inspector", "modern", "server/discover", "2026-07-28"),
    Row("mcp_remote", "the only one", "GET", "2025-11-25"),
    Row("claude_code", "the only one", "server/discover", "2026-07-28"),
    Row("codex", "the only one", "initialize", "2025-06-18"),
]


def package(folder):
    """Where a client is from, its name and its version: the first that its folder pins."""
    if (HERE / folder / "package.json").exists():
        return "npm", *next(iter(json.loads((HERE / folder / "package.json").read_text())["dependencies"].items()))
    return "PyPI", *(HERE / folder / "requirements.txt").read_text().split()[0].split("==")


def reason(folder):
    failed = CLIENTS / folder / "failed"
    return failed.read_text().strip() if failed.exists() else None


def missing():
    """The clients that could not be installed, and why: for want of Node, all those that run on it."""
    reasons = {row.folder: reason(row.folder) or (package(row.folder)[0] == "npm" and reason("node")) for row in ROWS}
    return {folder: why for folder, why in reasons.items() if why}


def command(folder):
    driver = next((HERE / folder).glob("drive.*"))
    if driver.suffix == ".mjs":
        # Node looks for packages beside the file that asks for them.
        return ["node", shutil.copy(driver, CLIENTS / folder)]
    python = CLIENTS / folder / "bin" / "python"
    return [python if python.exists() else CLIENTS / "pytest" / "bin" / "python", driver]


@dataclass
class Sight:
    """What was seen of one run of a driver."""

    passed: list
    posts: list
    told: dict | None
    words: str


@functools.cache
def look(row, key):
    # Where the machine's own Node is older, the one that was installed is used.
    nodes = [str(folder) for folder in CLIENTS.glob("node/node_modules/node-linux-*/bin")]
    with Door(ENDPOINT["mcp"]) as door, tempfile.TemporaryDirectory() as home:
        run = subprocess.run(
            [*command(row.folder), door.url, key, row.mode],
            cwd=CLIENTS / row.folder,
            env={"HOME": home, "PATH": os.pathsep.join([*nodes, os.environ["PATH"]]), "PYTHONDONTWRITEBYTECODE": "1"},
            input=json.dumps(calls()),
            capture_output=True,
            text=True,
            timeout=60,
        )
        told = None if run.returncode else json.loads(run.stdout)
        return Sight(list(door.passed), door.posts(), told, run.stderr)


def at_work(row):
    seen = look(row, ENDPOINT["key"])
    assert seen.told is not None, seen.words
    return seen


@functools.cache
def calls():
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_templates"}}
    headers = {"Authorization": f"Bearer {ENDPOINT['key']}", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(ENDPOINT["mcp"], json.dumps(message).encode(), headers)) as response:
        template = json.load(response)["result"]["structuredContent"]["data"][0]
    return [
        ["list_assets", {}],
        ["create_run", {"template_id": template["id"], "expires_in_hours": 1}],
        ["get_asset", {"asset_id": "a-00000000-0000-7000-8000-000000000000"}],
        ["get_asset", {"asset": "x"}],
    ]


def does(what):
    """Makes a test of a check: once for each row, and noted in the row's cell."""

    def made(check):
        @pytest.mark.parametrize("row", ROWS, ids=str)
        @functools.wraps(check)
        def test(row):
            if row.folder in missing():
                pytest.skip(f"{row.folder} cannot be installed: {missing()[row.folder]}")
            row.cells[what] = "FAILED"
            check(row)
            row.cells[what] = "ok"

        return test

    return made


@does("connect")
def test_it_connects_and_ends_up_with_the_version_of_its_mode(row):
    seen = at_work(row)
    first = seen.passed[0]
    assert (first.method or first.http_method) == row.begins
    # A handshake names the version in its body: the header begins after it.
    assert {each.version for each in seen.posts if each.method != "initialize"} == {row.protocol}
    assert all(each.status == 405 for each in seen.passed if (each.http_method, each.path) == ("GET", seen.posts[0].path))


@does("list")
def test_it_lists_the_tools(row):
    seen = at_work(row)
    answered = [each.answer["result"]["tools"] for each in seen.posts if each.method == "tools/list"]
    assert answered and all(len(tools) == 17 for tools in answered)
    assert set(seen.told["tools"]) == {tool["name"] for tool in answered[-1]}


def text(answer):
    return answer.get("error") or answer["content"][0]["text"]


@does("call")
def test_calls_that_read_and_write_succeed(row):
    answers = at_work(row).told["answers"][:2]
    assets, run = (json.loads(text(answer)) for answer in answers)
    assert not any(answer.get("isError") for answer in answers)
    # Claude Code shows its model the text alone.
    if row.folder != "claude_code":
        assert [answer["structuredContent"] for answer in answers] == [assets, run]
    assert "Seagull Flat" in {asset["name"] for asset in assets["data"]}
    assert set(run) == {"run_id", "link", "expires_at"}


@does("refusal")
def test_a_refusal_is_a_result_and_wrong_arguments_are_an_error(row):
    seen = at_work(row)
    refused, wrong = seen.told["answers"][2:]
    assert refused["isError"]
    assert "asset_not_found" in text(refused)
    assert "/asset_id is required" in text(wrong)
    # Not every client shows the code.
    *_, last = (each for each in seen.posts if each.method == "tools/call")
    assert last.answer["error"]["code"] == -32602


@does("bad key")
def test_a_bad_key_stops_it_at_the_door(row):
    seen = look(row, BAD_KEY)
    assert seen.told is None and seen.words
    assert {each.status for each in seen.posts} == {401}


def table():
    head = ["client", "version", "mode", "begins with", "protocol", *DOES]
    lines = [head]
    for row in ROWS:
        registry, name, version = package(row.folder)
        if row.folder not in missing():
            done = [row.cells.get(what, "not run") for what in DOES]
            lines.append([f"{registry} `{name}`", version, row.mode, row.begins, row.protocol, *done])
    widths = [max(map(len, column)) for column in zip(*lines)]
    lines.insert(1, ["-" * width for width in widths])
    return ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines]


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def test_the_documentation_has_the_same_table():
    lines = [cells(line) for line in DOCUMENTATION.read_text().splitlines() if line.startswith("| ")]
    head, _, *rows = table()
    # The rows of crates are looked at by the tests in Rust.
    not_run = [[f"{registry} `{name}`", version] for registry, name, version in map(package, missing())]
    documented = [line for line in lines if line[:2] not in not_run and not line[0].startswith(("crate", "---"))]
    assert documented == [cells(line) for line in (head, *rows)], "docs/clients.md is to have the table below"
