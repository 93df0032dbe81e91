"""Pippin's workloads on uvicorn's own interface ASGI, with asyncpg and httpx; no framework on top."""

import asyncio
import json
import os
import random
import time

import asyncpg
import httpx

DEVICE_BODY = b"x" * 1024
USERS_QUERY = "SELECT id, name, email FROM users ORDER BY id"

PLAIN = b"text/plain; charset=utf-8"
JSON = b"application/json"


def connections_of_this_process() -> int:
    """DATABASE_POOL is for the whole target, so the workers share it out."""
    whole = int(os.environ.get("DATABASE_POOL", "10"))
    return max(1, whole // int(os.environ.get("WORKERS", "1")))


def upstream_client() -> httpx.AsyncClient:
    """httpx would allow 100 connections at once and let the others wait; the 20 that it keeps idle stay as they are."""
    return httpx.AsyncClient(limits=httpx.Limits(max_connections=None, max_keepalive_connections=20))


class App:
    pool: asyncpg.Pool | None = None
    client: httpx.AsyncClient

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            await self.lifespan(receive, send)
            return
        if scope["path"] == "/events":
            await self.events(send)
            return
        status, content_type, body = await self.answer(scope["path"])
        headers = [(b"content-type", content_type), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def lifespan(self, receive, send):
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                if url := os.environ.get("DATABASE_URL"):
                    self.pool = await asyncpg.create_pool(url, min_size=1, max_size=connections_of_this_process())
                self.client = upstream_client()
                await send({"type": "lifespan.startup.complete"})
            else:
                await self.client.aclose()
                if self.pool:
                    await self.pool.close()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def events(self, send):
        """An event each 100 ms: its number, and the milliseconds since 1970."""
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for n in range(100):
            if n:
                await asyncio.sleep(0.1)
            event = f"data: {n} {time.time_ns() // 1_000_000}\n\n".encode()
            await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body"})

    async def answer(self, path: str) -> tuple[int, bytes, bytes]:
        """uvicorn gives the path decoded, and sends no body for HEAD."""
        if path == "/":
            return 200, PLAIN, b"Hello World!"
        if path.startswith("/hola/"):
            return 200, PLAIN, f"Hola {path[len('/hola/') :]}".encode()
        if path == "/device":
            # uvloop counts whole milliseconds from a clock that is rounded down: 96 to 105 wait 95 to 105 ms.
            await asyncio.sleep(random.randint(96, 105) / 1000)
            return 200, PLAIN, DEVICE_BODY
        if path == "/api/users/" and self.pool:
            rows = await self.pool.fetch(USERS_QUERY)
            return 200, JSON, json.dumps([dict(row) for row in rows]).encode()
        if path == "/api/proxy/" and "UPSTREAM_URL" in os.environ:
            answer = await self.client.get(os.environ["UPSTREAM_URL"] + "/slow")
            return answer.status_code, PLAIN, answer.content
        return 404, PLAIN, b"Not Found"


app = App()
