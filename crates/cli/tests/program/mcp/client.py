"""Asks `pippin mcp` as its users' programs do, and prints what came as JSON: PROGRAM URL."""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters, stdio_client


async def main(program: str, url: str) -> None:
    server = StdioServerParameters(
        command=program, args=["--store", "runs.db", "mcp"], env=dict(os.environ)
    )
    async with Client(stdio_client(server)) as client:
        await client.send_ping()
        tools = (await client.list_tools()).tools
        load = await client.call_tool("load", {"url": url, "seconds": 1, "connections": 2})
        report = await client.call_tool("report", {"form": "json"})
        tables = await client.call_tool("report", {})
        wrong = await client.call_tool("load", {"url": url, "seconds": 61})
    seen = {
        "tools": [tool.name for tool in tools],
        "load": load.structured_content,
        "report": report.structured_content,
        "tables": tables.structured_content,
        "wrong": {"is_error": wrong.is_error, "text": wrong.content[0].text},
    }
    print(json.dumps(seen))


asyncio.run(main(*sys.argv[1:]))
