"""The official Python client, in each of its modes, against a running stack.

ENDPOINTS names the stack's endpoints.json; .ci/run starts the stack and sets it.
"""

import asyncio
import json
import os
import pathlib

import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

ENDPOINT = json.loads(pathlib.Path(os.environ["ENDPOINTS"]).read_text())["checklists"]
MODES = ["auto", "legacy", "2026-07-28"]


def client(mode):
    http = create_mcp_http_client(headers={"Authorization": f"Bearer {ENDPOINT['key']}"})
    return Client(streamable_http_client(ENDPOINT["mcp"], http_client=http), mode=mode)


def in_a_session(mode, work):
    async def session():
        async with client(mode) as connected:
            return await work(connected)

    return asyncio.run(session())


async def call(connected, tool, arguments):
    result = await connected.call_tool(tool, arguments)
    assert not result.is_error, result
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


@pytest.mark.parametrize("mode", MODES)
def test_it_connects_and_lists_the_tools(mode):
    async def work(connected):
        return connected.protocol_version, (await connected.list_tools()).tools

    version, tools = in_a_session(mode, work)
    assert version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
    assert len(tools) == 17
    assert all(tool.description and tool.input_schema["type"] == "object" for tool in tools)


@pytest.mark.parametrize("mode", MODES)
def test_it_writes_a_template_dispatches_a_run_and_reads_it_back(mode):
    async def work(connected):
        asset = (await call(connected, "list_assets", {}))["data"][0]
        sections = [{"steps": [{"type": "rating", "label": "How clean is it?"}, {"type": "text", "label": "What is missing?"}]}]
        template = await call(connected, "create_template", {"name": f"From Python, {mode}", "sections": sections})
        run = await call(connected, "create_run", {"template_id": template["id"], "asset_id": asset["id"], "expires_in_hours": 1})
        return run, await call(connected, "get_run", {"run_id": run["run_id"]})

    run, read = in_a_session(mode, work)
    assert set(run) == {"run_id", "link", "expires_at"}
    assert (read["status"], read["progress"]["total"], read["expires_at"]) == ("pending", 2, run["expires_at"])


@pytest.mark.parametrize("mode", MODES)
def test_a_refusal_is_a_result_and_wrong_arguments_are_an_error(mode):
    async def work(connected):
        refused = await connected.call_tool("get_asset", {"asset_id": "a-00000000-0000-7000-8000-000000000000"})
        with pytest.raises(MCPError) as wrong:
            await connected.call_tool("get_asset", {"asset": "x"})
        return refused, wrong.value

    refused, wrong = in_a_session(mode, work)
    assert refused.is_error
    assert json.loads(refused.content[0].text)["error"] == "asset_not_found"
    assert wrong.code == -32602
    assert "asset_id is required" in str(wrong)


@pytest.mark.parametrize("mode", MODES)
def test_a_bad_key_is_refused_at_the_door(mode):
    statuses = []

    async def note(response):
        statuses.append(response.status_code)

    async def session():
        http = create_mcp_http_client(headers={"Authorization": "Bearer rdk_live_wrong"})
        http.event_hooks["response"].append(note)
        async with Client(streamable_http_client(ENDPOINT["mcp"], http_client=http), mode=mode) as connected:
            await connected.list_tools()

    # The client tells of an error and not of its status, inside groups of its own.
    with pytest.raises(BaseException):
        asyncio.run(session())
    assert statuses and set(statuses) == {401}
