"""PyPI `mcp` 1. Usage: drive.py URL KEY MODE, the calls to make on standard input. It has one mode."""

import asyncio
import json
import sys

from mcp import ClientSession, McpError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client


async def answer(session, tool, arguments):
    try:
        result = await session.call_tool(tool, arguments)
    except McpError as error:
        return {"error": str(error)}
    return result.model_dump(mode="json", by_alias=True)


async def drive(url, key, _mode):
    async with (
        create_mcp_http_client(headers={"Authorization": f"Bearer {key}"}) as http,
        streamable_http_client(url, http_client=http) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        tools = (await session.list_tools()).tools
        answers = [await answer(session, *call) for call in json.load(sys.stdin)]
    print(json.dumps({"tools": [tool.name for tool in tools], "answers": answers}))


asyncio.run(drive(*sys.argv[1:]))
