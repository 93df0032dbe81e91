"""Pippin's workloads on Sanic and its own server, with Jinja2 (sanic-ext), asyncpg and httpx."""

import asyncio
import hashlib
import os
import random
import time
from json import loads
from pathlib import Path

import asyncpg
import httpx
from sanic import Sanic
from sanic.response import json, text
from sanic_ext import render

DEVICE_BODY = "x" * 1024
USERS_QUERY = "SELECT id, name, email FROM users ORDER BY id"
MESSAGES_QUERY = "SELECT id, text FROM messages"

app = Sanic("pippin")


def connections_of_this_process() -> int:
    """DATABASE_POOL is for the whole target, so the workers share it out."""
    whole = int(os.environ.get("DATABASE_POOL", "10"))
    return max(1, whole // int(os.environ.get("WORKERS", "1")))


def upstream_client() -> httpx.AsyncClient:
    """httpx would allow 100 connections at once and let the others wait; the 20 that it keeps idle stay as they are."""
    return httpx.AsyncClient(limits=httpx.Limits(max_connections=None, max_keepalive_connections=20))


@app.before_server_start
async def open_services(app):
    if url := os.environ.get("DATABASE_URL"):
        app.ctx.pool = await asyncpg.create_pool(url, min_size=1, max_size=connections_of_this_process())
    app.ctx.client = upstream_client()


@app.after_server_stop
async def close_services(app):
    await app.ctx.client.aclose()
    if "DATABASE_URL" in os.environ:
        await app.ctx.pool.close()


def catalogue(n: int) -> dict:
    items = [{"id": i, "name": f"Item {i} <of> page {n} & more", "price": i * n} for i in range(1, 13)]
    return {"n": n, "items": items}


def with_added(rows: list, text: str) -> list[dict]:
    """The rows and one more, in the order of their texts: Python compares code points."""
    return sorted([*map(dict, rows), {"id": 0, "text": text}], key=lambda row: row["text"])


@app.get("/")
async def hello(request):
    return text("Hello World!")


@app.get("/hola/<name:str>", unquote=True)
async def hola(request, name: str):
    return text(f"Hola {name}")


@app.get("/page/<n:int>")
async def page(request, n: int):
    return await render("page.html", context=catalogue(n))


if "DATABASE_URL" in os.environ:

    @app.get("/api/users/")
    async def users(request):
        return json([dict(row) for row in await app.ctx.pool.fetch(USERS_QUERY)])

    @app.get("/messages")
    async def messages(request):
        rows = with_added(await app.ctx.pool.fetch(MESSAGES_QUERY), request.args.get("add"))
        return await render("messages.html", context={"messages": rows})


if path := os.environ.get("ITEMS_FILE"):
    all_items = loads(Path(path).read_text("utf-8"))

    @app.get("/json/<n:int>")
    async def json_items(request, n: int):
        m = int(request.args.get("m"))
        items = [{**item, "total": item["price"] * item["quantity"] * m} for item in all_items[:n]]
        return json({"count": len(items), "items": items})


if "STATIC_FOLDER" in os.environ:
    app.static("/static", os.environ["STATIC_FOLDER"], use_content_range=True)


if "UPSTREAM_URL" in os.environ:

    @app.get("/api/proxy/")
    async def proxy(request):
        answer = await app.ctx.client.get(os.environ["UPSTREAM_URL"] + "/slow")
        return text(answer.text, status=answer.status_code)


@app.get("/device")
async def device(request):
    # uvloop counts whole milliseconds from a clock that is rounded down: 96 to 105 wait 95 to 105 ms.
    await asyncio.sleep(random.randint(96, 105) / 1000)
    return text(DEVICE_BODY)


@app.get("/events")
async def events(request):
    """An event each 100 ms: its number, and the milliseconds since 1970."""
    answer = await request.respond(content_type="text/event-stream", headers={"Cache-Control": "no-store"})
    for n in range(100):
        if n:
            await asyncio.sleep(0.1)
        await answer.send(f"data: {n} {time.time_ns() // 1_000_000}\n\n")
    await answer.eof()


@app.post("/upload", stream=True)
async def upload(request):
    digest, length = hashlib.sha256(), 0
    while (piece := await request.stream.read()) is not None:
        digest.update(piece)
        length += len(piece)
    return text(f"{length} {digest.hexdigest()}")
