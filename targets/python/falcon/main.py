"""Pippin's workloads on Falcon's ASGI application, with asyncpg and httpx."""

import asyncio
import os
import random
import time

import asyncpg
import falcon
import falcon.asgi
import httpx
from falcon.asgi import SSEvent

DEVICE_BODY = "x" * 1024
USERS_QUERY = "SELECT id, name, email FROM users ORDER BY id"


def connections_of_this_process() -> int:
    """DATABASE_POOL is for the whole target, so the workers share it out."""
    whole = int(os.environ.get("DATABASE_POOL", "10"))
    return max(1, whole // int(os.environ.get("WORKERS", "1")))


def upstream_client() -> httpx.AsyncClient:
    """httpx would allow 100 connections at once and let the others wait; the 20 that it keeps idle stay as they are."""
    return httpx.AsyncClient(limits=httpx.Limits(max_connections=None, max_keepalive_connections=20))


class Services:
    """What the resources use; opened and closed with the worker."""

    async def process_startup(self, scope, event):
        if url := os.environ.get("DATABASE_URL"):
            self.pool = await asyncpg.create_pool(url, min_size=1, max_size=connections_of_this_process())
        self.client = upstream_client()

    async def process_shutdown(self, scope, event):
        await self.client.aclose()
        if "DATABASE_URL" in os.environ:
            await self.pool.close()


class Hello:
    async def on_get(self, request, response):
        response.content_type = falcon.MEDIA_TEXT
        response.text = "Hello World!"


class Hola:
    async def on_get(self, request, response, name):
        response.content_type = falcon.MEDIA_TEXT
        response.text = f"Hola {name}"


async def stream_of_events():
    """An event each 100 ms: its number, and the milliseconds since 1970."""
    for n in range(100):
        if n:
            await asyncio.sleep(0.1)
        yield SSEvent(text=f"{n} {time.time_ns() // 1_000_000}")


class Events:
    async def on_get(self, request, response):
        response.sse = stream_of_events()


class Users:
    def __init__(self, services):
        self.services = services

    async def on_get(self, request, response):
        rows = await self.services.pool.fetch(USERS_QUERY)
        response.media = [dict(row) for row in rows]


class Proxy:
    def __init__(self, services):
        self.services = services

    async def on_get(self, request, response):
        answer = await self.services.client.get(os.environ["UPSTREAM_URL"] + "/slow")
        response.status = answer.status_code
        response.content_type = falcon.MEDIA_TEXT
        response.text = answer.text


class Device:
    async def on_get(self, request, response):
        # uvloop counts whole milliseconds from a clock that is rounded down: 96 to 105 wait 95 to 105 ms.
        await asyncio.sleep(random.randint(96, 105) / 1000)
        response.content_type = falcon.MEDIA_TEXT
        response.text = DEVICE_BODY


services = Services()
app = falcon.asgi.App(middleware=[services])
app.add_route("/", Hello())
app.add_route("/hola/{name}", Hola())
app.add_route("/device", Device())
app.add_route("/events", Events())
if "DATABASE_URL" in os.environ:
    app.add_route("/api/users/", Users(services))
if "UPSTREAM_URL" in os.environ:
    app.add_route("/api/proxy/", Proxy(services))
