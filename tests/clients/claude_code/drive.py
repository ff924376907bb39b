"""Claude Code, with a model that only makes the calls to make, so that it needs no login.

Usage: drive.py URL KEY MODE, the calls to make on standard input. It has one mode.
"""

import json
import os
import subprocess
import sys

from model import Model

PREFIX = "mcp__checklists__"

url, key, _mode = sys.argv[1:]
calls = [[PREFIX + tool, arguments] for tool, arguments in json.load(sys.stdin)]


def claude(*arguments, **environment):
    # Not by its name: that is put in place by an install script, and none is run here.
    command = ["node", "node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs", *arguments]
    environment = os.environ | {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"} | environment
    return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True).stdout


claude("mcp", "add", "--transport", "http", "checklists", url, "--header", f"Authorization: Bearer {key}")
status = next(line for line in claude("mcp", "list").splitlines() if line.startswith("checklists:"))
if not status.endswith("✔ Connected"):
    sys.exit(status)
with Model(calls) as model:
    # Without the search, the model is shown every tool.
    environment = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "none", "ENABLE_TOOL_SEARCH": "false"}
    claude("--print", "Go", "--allowedTools", PREFIX.rstrip("_"), **environment)
tools = [name.removeprefix(PREFIX) for name in model.tools if name.startswith(PREFIX)]
answers = [
    {"content": [{"type": "text", "text": result["content"]}], "isError": result.get("is_error", False)} for result in model.results
]
print(json.dumps({"tools": tools, "answers": answers}))
