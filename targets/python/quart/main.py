"""Pippin's workloads on Quart, with Jinja2, asyncpg and httpx."""

import asyncio
import hashlib
import json
import os
import time
from pathlib import Path

import asyncpg
import httpx
from quart import Quart, Response, jsonify, render_template, request

USERS_QUERY = "SELECT id, name, email FROM users ORDER BY id"
MESSAGES_QUERY = "SELECT id, text FROM messages"

app = Quart(__name__)
app.config["MAX_CONTENT_LENGTH"] = 20_000_000  # by default it is 16 MiB


def connections_of_this_process() -> int:
    """DATABASE_POOL is for the whole target, so the workers share it out."""
    whole = int(os.environ.get("DATABASE_POOL", "10"))
    return max(1, whole // int(os.environ.get("WORKERS", "1")))


def upstream_client() -> httpx.AsyncClient:
    """httpx would allow 100 connections at once and let the others wait; the 20 that it keeps idle stay as they are."""
    return httpx.AsyncClient(limits=httpx.Limits(max_connections=None, max_keepalive_connections=20))


@app.while_serving
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


@app.get("/")
async def hello():
    return Response("Hello World!", mimetype="text/plain")


@app.get("/hola/<name>")
async def hola(name: str):
    return Response(f"Hola {name}", mimetype="text/plain")


async def stream_of_events():
    """An event each 100 ms: its number, and the milliseconds since 1970."""
    for n in range(100):
        if n:
            await asyncio.sleep(0.1)
        yield f"data: {n} {time.time_ns() // 1_000_000}\n\n"


@app.get("/events")
async def events():
    return Response(stream_of_events(), mimetype="text/event-stream", headers={"Cache-Control": "no-store"})


@app.get("/page/<int:n>")
async def page(n: int):
    return await render_template("page.html", **catalogue(n))


@app.post("/upload")
async def upload():
    digest, length = hashlib.sha256(), 0
    async for piece in request.body:
        digest.update(piece)
        length += len(piece)
    return Response(f"{length} {digest.hexdigest()}", mimetype="text/plain")


if "DATABASE_URL" in os.environ:

    @app.get("/api/users/")
    async def users():
        return jsonify([dict(row) for row in await app.pool.fetch(USERS_QUERY)])

    @app.get("/messages")
    async def messages():
        rows = with_added(await app.pool.fetch(MESSAGES_QUERY), request.args["add"])
        return await render_template("messages.html", messages=rows)


if path := os.environ.get("ITEMS_FILE"):
    all_items = json.loads(Path(path).read_text("utf-8"))

    @app.get("/json/<int:n>")
    async def json_items(n: int):
        m = request.args.get("m", 1, type=int)
        items = [{**item, "total": item["price"] * item["quantity"] * m} for item in all_items[:n]]
        return jsonify(count=len(items), items=items)


if "UPSTREAM_URL" in os.environ:

    @app.get("/api/proxy/")
    async def proxy():
        answer = await app.client.get(os.environ["UPSTREAM_URL"] + "/slow")
        return Response(answer.text, status=answer.status_code, mimetype="text/plain")
