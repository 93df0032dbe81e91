"""Pippin's workloads on BlackSheep, with Jinja2, asyncpg and httpx."""

import asyncio
import hashlib
import os
import random
import time
from json import loads
from pathlib import Path

import asyncpg
import httpx
from blacksheep import Application, Request, json, text
from blacksheep.server.compression import use_gzip_compression
from blacksheep.server.rendering.jinja2 import JinjaRenderer
from blacksheep.server.responses import view
from blacksheep.server.sse import ServerSentEventsResponse, TextServerSentEvent
from blacksheep.settings.html import html_settings
from jinja2 import FileSystemLoader

DEVICE_BODY = "x" * 1024
USERS_QUERY = "SELECT id, name, email FROM users ORDER BY id"
MESSAGES_QUERY = "SELECT id, text FROM messages"

app = Application()
html_settings.use(JinjaRenderer(FileSystemLoader(Path(__file__).parent / "views")))


def connections_of_this_process() -> int:
    """DATABASE_POOL is for the whole target, so the workers share it out."""
    whole = int(os.environ.get("DATABASE_POOL", "10"))
    return max(1, whole // int(os.environ.get("WORKERS", "1")))


def upstream_client() -> httpx.AsyncClient:
    """httpx would allow 100 connections at once and let the others wait; the 20 that it keeps idle stay as they are."""
    return httpx.AsyncClient(limits=httpx.Limits(max_connections=None, max_keepalive_connections=20))


@app.lifespan
async def services():
    if url := os.environ.get("DATABASE_URL"):
        app.pool = await asyncpg.create_pool(url, min_size=1, max_size=connections_of_this_process())
    async with upstream_client() as app.client:
        yield
    if url:
        await app.pool.close()


def catalogue(n: int) -> dict:
    items = [{"id": i, "name": f"Item {i} <of> page {n} & more", "price": i * n} for i in range(1, 13)]
    return {"n": n, "items": items}


def with_added(rows: list, text: str) -> list[dict]:
    """The rows and one more, in the order of their texts: Python compares code points."""
    return sorted([*map(dict, rows), {"id": 0, "text": text}], key=lambda row: row["text"])


@app.router.get("/")
async def hello():
    return text("Hello World!")


@app.router.get("/hola/{name}")
async def hola(name: str):
    return text(f"Hola {name}")


@app.router.get("/page/{int:n}")
async def page(n: int):
    return view("page", catalogue(n))


if "DATABASE_URL" in os.environ:

    @app.router.get("/api/users/")
    async def users():
        return json([dict(row) for row in await app.pool.fetch(USERS_QUERY)])

    @app.router.get("/messages")
    async def messages(add: str):
        rows = await app.pool.fetch(MESSAGES_QUERY)
        return view("messages", {"messages": with_added(rows, add)})


if path := os.environ.get("ITEMS_FILE"):
    all_items = loads(Path(path).read_text("utf-8"))
    use_gzip_compression(app)

    @app.router.get("/json/{int:n}")
    async def json_items(n: int, m: int):
        items = [{**item, "total": item["price"] * item["quantity"] * m} for item in all_items[:n]]
        return json({"count": len(items), "items": items})


if "UPSTREAM_URL" in os.environ:

    @app.router.get("/api/proxy/")
    async def proxy():
        answer = await app.client.get(os.environ["UPSTREAM_URL"] + "/slow")
        return text(answer.text, answer.status_code)


@app.router.get("/device")
async def device():
    # uvloop counts whole milliseconds from a clock that is rounded down: 96 to 105 wait 95 to 105 ms.
    await asyncio.sleep(random.randint(96, 105) / 1000)
    return text(DEVICE_BODY)


async def stream_of_events():
    """An event each 100 ms: its number, and the milliseconds since 1970."""
    for n in range(100):
        if n:
            await asyncio.sleep(0.1)
        yield TextServerSentEvent(f"{n} {time.time_ns() // 1_000_000}")


@app.router.get("/events")
async def events():
    return ServerSentEventsResponse(stream_of_events)


@app.router.post("/upload")
async def upload(request: Request):
    digest, length = hashlib.sha256(), 0
    async for piece in request.stream():
        digest.update(piece)
        length += len(piece)
    return text(f"{length} {digest.hexdigest()}")
