"""Pippin's workloads on Microdot, with its Jinja extension, asyncpg and httpx."""

import asyncio
import hashlib
import json
import os
import random
import time
from pathlib import Path

import asyncpg
import httpx
from microdot import Request
from microdot.asgi import Microdot
from microdot.jinja import Template
from microdot.sse import with_sse

DEVICE_BODY = "x" * 1024
USERS_QUERY = "SELECT id, name, email FROM users ORDER BY id"
MESSAGES_QUERY = "SELECT id, text FROM messages"
HTML = {"Content-Type": "text/html; charset=UTF-8"}

Request.max_content_length = 20_000_000  # by default it is 16 KiB
Template.initialize(Path(__file__).parent / "templates")


def connections_of_this_process() -> int:
    """DATABASE_POOL is for the whole target, so the workers share it out."""
    whole = int(os.environ.get("DATABASE_POOL", "10"))
    return max(1, whole // int(os.environ.get("WORKERS", "1")))


async def startup(scope):
    if path := os.environ.get("ITEMS_FILE"):
        app.items = json.loads(Path(path).read_text("utf-8"))
    if url := os.environ.get("DATABASE_URL"):
        app.pool = await asyncpg.create_pool(url, min_size=1, max_size=connections_of_this_process())
    # httpx would allow 100 connections at once and let the others wait; the 20 that it keeps idle stay as they are.
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
    app.client = httpx.AsyncClient(limits=limits)


async def shutdown(scope):
    await app.client.aclose()
    if os.environ.get("DATABASE_URL"):
        await app.pool.close()


app = Microdot(lifespan_startup=startup, lifespan_shutdown=shutdown)


@app.get("/")
async def hello(request):
    return "Hello World!"


@app.get("/hola/<name>")
async def hola(request, name):
    return f"Hola {name}"


@app.get("/page/<int:n>")
async def page(request, n):
    items = [{"id": i, "name": f"Item {i} <of> page {n} & more", "price": i * n} for i in range(1, 13)]
    return Template("page.html").render(n=n, items=items), HTML


@app.get("/json/<int:n>")
async def json_items(request, n):
    m = int(request.args["m"])
    items = [{**item, "total": item["price"] * item["quantity"] * m} for item in app.items[:n]]
    return {"count": len(items), "items": items}


@app.post("/upload")
async def upload(request):
    digest, length = hashlib.sha256(), 0
    while piece := await request.stream.read(64 * 1024):
        digest.update(piece)
        length += len(piece)
    return f"{length} {digest.hexdigest()}"


@app.get("/api/users/")
async def users(request):
    return [dict(row) for row in await app.pool.fetch(USERS_QUERY)]


@app.get("/messages")
async def messages(request):
    rows = [dict(row) for row in await app.pool.fetch(MESSAGES_QUERY)]
    rows.append({"id": 0, "text": request.args["add"]})
    rows.sort(key=lambda row: row["text"])  # Python compares code points.
    return Template("messages.html").render(messages=rows), HTML


@app.get("/api/proxy/")
async def proxy(request):
    answer = await app.client.get(os.environ["UPSTREAM_URL"] + "/slow")
    return answer.text, answer.status_code


@app.get("/device")
async def device(request):
    # uvloop counts whole milliseconds from a clock that is rounded down: 96 to 105 wait 95 to 105 ms.
    await asyncio.sleep(random.randint(96, 105) / 1000)
    return DEVICE_BODY


@app.get("/events")
@with_sse
async def events(request, sse):
    """An event each 100 ms: its number, and the milliseconds since 1970."""
    for n in range(100):
        if n:
            await asyncio.sleep(0.1)
        await sse.send(f"{n} {time.time_ns() // 1_000_000}")
