"""PyPI `fastmcp`. Usage: drive.py URL KEY MODE, the calls to make on standard input."""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from mcp import MCPError


async def answer(client, tool, arguments):
    try:
        result = await client.call_tool_mcp(tool, arguments)
    except MCPError as error:
        return {"error": str(error)}
    return result.model_dump(mode="json", by_alias=True)


async def drive(url, key, mode):
    transport = StreamableHttpTransport(url, headers={"Authorization": f"Bearer {key}"})
    async with Client(transport, mode=mode) as client:
        tools = await client.list_tools()
        answers = [await answer(client, *call) for call in json.load(sys.stdin)]
    print(json.dumps({"tools": [tool.name for tool in tools], "answers": answers}))


asyncio.run(drive(*sys.argv[1:]))
