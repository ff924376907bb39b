"""What is asked of both, and what of an answer is bound to differ."""

import json
import re
from dataclasses import dataclass, field

VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"]
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@dataclass(frozen=True)
class Request:
    what: str
    body: bytes = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    method: str = "POST"
    path: str = "/mcp"
    headers: dict = field(default_factory=dict)
    key: str | None = "good"


def rpc(method, params=None, id=1):
    message = {"jsonrpc": "2.0", "id": id, "method": method}
    return json.dumps(message | ({} if params is None else {"params": params})).encode()


def call(tool, arguments, id=1):
    return rpc("tools/call", {"name": tool, "arguments": arguments}, id)


def modern(method, params=None):
    name = {"Mcp-Name": params["name"]} if method == "tools/call" else {}
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, **name}
    return {"body": rpc(method, (params or {}) | {"_meta": MODERN}), "headers": headers}


# Nothing here changes anything, so that both meet the same.
READING = [
    Request("the tools"),
    Request("no key", key=None),
    Request("a key that is none", key="rdk_live_nonsense"),
    Request("a key of nobody", key="unknown"),
    Request("another method", b"", "GET"),
    Request("a preflight without an origin", b"", "OPTIONS"),
    Request("a method of WebDAV", b"", "DELETE"),
    Request("another path", path="/mcp/elsewhere"),
    Request("a slash at the end", path="/mcp/"),
    Request("a page of a foreign origin", headers={"Origin": "https://evil.example"}),
    Request("a charset", headers={"Content-Type": 'application/json; charset="UTF-8"'}),
    Request("another type", headers={"Content-Type": "text/plain"}),
    Request("a compressed body", headers={"Content-Encoding": "gzip"}),
    Request("an empty body", b""),
    Request("no JSON", b"{"),
    Request("too large", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"x" * 1024 * 1024 + b'"}}'),
    Request("too deep", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b"[" * 100 + b"]" * 100 + b"}"),
    Request("an id that is none", rpc("tools/list", id=[1])),
    Request("a method that is none", rpc("tools/make")),
    Request("ping", rpc("ping", id="ping-ü")),
    Request("a notification", b'{"jsonrpc":"2.0","method":"notifications/initialized"}'),
    Request("a batch", b"[" + rpc("ping") + b"," + rpc("ping", id=2) + b"]"),
    Request("a version of the future", headers={"MCP-Protocol-Version": "2099-01-01"}),
    *[Request(f"initialize, {version}", rpc("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})) for version in VERSIONS],
    *[Request(f"the tools, {version}", headers={"MCP-Protocol-Version": version}) for version in VERSIONS],
    Request("discover", **modern("server/discover")),
    Request("the tools, 2026-07-28", **modern("tools/list")),
    Request("a call, 2026-07-28", **modern("tools/call", {"name": "list_assets", "arguments": {"limit": 1}})),
    Request("2026-07-28 without its _meta", rpc("tools/list"), headers={"MCP-Protocol-Version": "2026-07-28"}),
    Request("assets", call("list_assets", {})),
    Request("a page of assets", call("list_assets", {"limit": 1})),
    Request("templates", call("list_templates", {})),
    Request("runs", call("list_runs", {})),
    Request("runs by status", call("list_runs", {"status": "active"})),
    Request("runs that have expired", call("list_runs", {"status": "expired"})),
    Request("members", call("list_members", {})),
    Request("an asset of nobody", call("get_asset", {"asset_id": "a-0192f3a4-0000-7000-8000-000000000000"})),
    Request("a run of nobody", call("get_run", {"run_id": "r-00000000-0000-4000-8000-000000000000"})),
    Request("a tool that is none", call("make_asset", {})),
    Request("arguments that are none", call("get_asset", {"asset_id": 7, "more": True})),
    Request("a limit as text", call("list_assets", {"limit": "1"})),
    Request("a cursor of somebody else's", call("list_assets", {"cursor": "AAAA"})),
]

# A day's work: each step a tool and its arguments, which may name what an earlier step made.
WORK = [
    ("asset", "create_asset", {"name": "Möwe 🐦", "fields": {"address": "3 Quay Street", "bedrooms": 2}}),
    (None, "get_asset", {"asset_id": "{asset}"}),
    (None, "update_asset", {"asset_id": "{asset}", "fields": {"bedrooms": 3, "address": None}}),
    (None, "update_asset", {"asset_id": "{asset}", "name": None}),
    ("template", "create_template", {"name": "Check", "sections": [{"steps": [{"id": "s-one", "type": "boolean", "label": "Clean?", "required": True}]}]}),
    (None, "create_template", {"name": "Wrong", "sections": [{"steps": [{"id": "s-one", "type": "none", "label": ""}]}]}),
    (None, "update_template", {"template_id": "{template}", "name": "Check twice"}),
    (None, "get_template", {"template_id": "{template}"}),
    ("run", "create_run", {"template_id": "{template}", "asset_id": "{asset}", "expires_in_hours": 24}),
    (None, "get_run", {"run_id": "{run}"}),
    (None, "delete_asset", {"asset_id": "{asset}"}),
    (None, "delete_run", {"run_id": "{run}"}),
    (None, "get_run", {"run_id": "{run}"}),
    (None, "delete_asset", {"asset_id": "{asset}"}),
    (None, "delete_template", {"template_id": "{template}"}),
    (None, "delete_template", {"template_id": "{template}"}),
]

# UUIDs, and the ids that sections and steps are given.
ID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[gs]-[0-9a-z]{6}\b"
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"
CURSOR = r'(?<=next_cursor\\":\\")[\w-]+|(?<=next_cursor":")[\w-]+'


def alike(text):
    """Ids in the order in which they are met, times and sealed cursors as what they are."""
    seen = {}
    text = re.sub(ID, lambda found: seen.setdefault(found[0], f"id-{len(seen)}"), text)
    return re.sub(CURSOR, "cursor", re.sub(TIME, "time", text))
