"""Codex, through the app server that its editors use: it calls tools without a model, and so without a login.

Usage: drive.py URL KEY MODE, the calls to make on standard input. It has one mode.
"""

import itertools
import json
import os
import subprocess
import sys

url, key, _mode = sys.argv[1:]
codex = "node_modules/.bin/codex"
environment = os.environ | {"CHECKLISTS_KEY": key}
# A thread wants a model at once. This one is nowhere, so that nothing is asked for outside this machine.
nowhere = ["-c", "model_provider=nowhere", "-c", 'model_providers.nowhere={name="nowhere", base_url="http://127.0.0.1:9"}']

add = [codex, "mcp", "add", "checklists", "--url", url, "--bearer-token-env-var", "CHECKLISTS_KEY"]
subprocess.run(add, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
server = subprocess.Popen(
    [codex, "app-server", *nowhere, "-c", "analytics.enabled=false"],
    env=environment,
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    text=True,
)
ids = itertools.count()


def tell(message):
    print(json.dumps(message), file=server.stdin, flush=True)


def ask(method, **params):
    number = next(ids)
    tell({"id": number, "method": method, "params": params})
    return next(message for message in map(json.loads, server.stdout) if message.get("id") == number)


def answer(tool, arguments):
    called = ask("mcpServer/tool/call", threadId=thread, server="checklists", tool=tool, arguments=arguments)
    return called["result"] if "result" in called else {"error": called["error"]["message"]}


ask("initialize", clientInfo={"name": "drive", "version": "1"})
tell({"method": "initialized"})
thread = ask("thread/start", ephemeral=True)["result"]["thread"]["id"]
(checklists,) = ask("mcpServerStatus/list", threadId=thread)["result"]["data"]
failed = checklists.get("toolsError")
answers = [] if failed else [answer(*call) for call in json.load(sys.stdin)]
server.stdin.close()
server.wait()
if failed:
    sys.exit(failed)
print(json.dumps({"tools": list(checklists["tools"]), "answers": answers}))
