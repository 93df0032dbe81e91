"""Pippin's workloads on Granian's own interface RSGI, with asyncpg and httpx; no framework on top."""

import asyncio
import json
import os
import random
import time
from urllib.parse import unquote

import asyncpg
import httpx

DEVICE_BODY = "x" * 1024
USERS_QUERY = "SELECT id, name, email FROM users ORDER BY id"

PLAIN = [("content-type", "text/plain; charset=utf-8")]
JSON = [("content-type", "application/json")]
EVENTS = [("content-type", "text/event-stream"), ("cache-control", "no-store")]


def connections_of_this_process() -> int:
    """DATABASE_POOL is for the whole target, so the workers share it out."""
    whole = int(os.environ.get("DATABASE_POOL", "10"))
    return max(1, whole // int(os.environ.get("WORKERS", "1")))


def upstream_client() -> httpx.AsyncClient:
    """httpx would allow 100 connections at once and let the others wait; the 20 that it keeps idle stay as they are."""
    return httpx.AsyncClient(limits=httpx.Limits(max_connections=None, max_keepalive_connections=20))


def respond(scope, protocol, status, headers, body):
    """Over HTTP/2, Granian would send the body of an answer to HEAD."""
    if scope.method == "HEAD":
        protocol.response_empty(status, headers)
    else:
        protocol.response_str(status, headers, body)


class App:
    def __rsgi_init__(self, loop):
        if url := os.environ.get("DATABASE_URL"):
            self.pool = loop.run_until_complete(
                asyncpg.create_pool(url, min_size=1, max_size=connections_of_this_process())
            )
        self.client = upstream_client()

    def __rsgi_del__(self, loop):
        loop.run_until_complete(self.client.aclose())
        if "DATABASE_URL" in os.environ:
            loop.run_until_complete(self.pool.close())

    async def __rsgi__(self, scope, protocol):
        path = scope.path
        if path == "/":
            respond(scope, protocol, 200, PLAIN, "Hello World!")
        elif path.startswith("/hola/"):
            respond(scope, protocol, 200, PLAIN, f"Hola {unquote(path[len('/hola/') :])}")
        elif path == "/device":
            # uvloop counts whole milliseconds from a clock that is rounded down: 96 to 105 wait 95 to 105 ms.
            await asyncio.sleep(random.randint(96, 105) / 1000)
            respond(scope, protocol, 200, PLAIN, DEVICE_BODY)
        elif path == "/events":
            # An event each 100 ms: its number, and the milliseconds since 1970.
            stream = protocol.response_stream(200, EVENTS)
            for n in range(100):
                if n:
                    await asyncio.sleep(0.1)
                await stream.send_str(f"data: {n} {time.time_ns() // 1_000_000}\n\n")
        elif path == "/api/users/" and "DATABASE_URL" in os.environ:
            rows = await self.pool.fetch(USERS_QUERY)
            respond(scope, protocol, 200, JSON, json.dumps([dict(row) for row in rows]))
        elif path == "/api/proxy/" and "UPSTREAM_URL" in os.environ:
            answer = await self.client.get(os.environ["UPSTREAM_URL"] + "/slow")
            respond(scope, protocol, answer.status_code, PLAIN, answer.text)
        else:
            respond(scope, protocol, 404, PLAIN, "Not Found")


app = App()
