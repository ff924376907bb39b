"""npm `@modelcontextprotocol/inspector`, its command line: each call is a process of its own.

Usage: drive.py URL KEY ERA, the calls to make on standard input.
"""

import json
import subprocess
import sys

IS_ERROR = 5

url, key, era = sys.argv[1:]
inspector = ["node_modules/.bin/inspector", "--cli", url, "--transport", "http", "--header", f"Authorization: Bearer {key}"]
inspector += ["--protocol-era", era, "--format", "json", "--quiet"]


def ask(*arguments):
    return subprocess.run([*inspector, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)


def answer(tool, arguments):
    asked = ask("--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))
    if asked.returncode in (0, IS_ERROR):
        return json.loads(asked.stdout)["result"]
    return {"error": json.loads(asked.stderr)["error"]["message"]}


# Strict: it ends with a status of its own if another client could not use a tool's schema.
listed = ask("--method", "tools/list", "--strict")
if listed.returncode:
    sys.exit(listed.stderr)
tools = json.loads(listed.stdout)["result"]["tools"]
answers = [answer(*call) for call in json.load(sys.stdin)]
print(json.dumps({"tools": [tool["name"] for tool in tools], "answers": answers}))
