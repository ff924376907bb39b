"""PyPI `mcp` 2. Usage: drive.py URL KEY MODE, the calls to make on standard input."""

import asyncio
import json
import sys

from mcp import Client, MCPError
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


async def answer(client, tool, arguments):
    try:
        result = await client.call_tool(tool, arguments)
    except MCPError as error:
        return {"error": str(error)}
    return result.model_dump(mode="json", by_alias=True)


async def drive(url, key, mode):
    http = create_mcp_http_client(headers={"Authorization": f"Bearer {key}"})
    async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
        tools = (await client.list_tools()).tools
        answers = [await answer(client, *call) for call in json.load(sys.stdin)]
    print(json.dumps({"tools": [tool.name for tool in tools], "answers": answers}))


asyncio.run(drive(*sys.argv[1:]))
