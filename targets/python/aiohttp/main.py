"""Pippin's workloads on aiohttp, with Jinja2 (aiohttp-jinja2), asyncpg and aiohttp's own client."""

import asyncio
import hashlib
import json
import os
import random
import time
from pathlib import Path

import aiohttp
import aiohttp_jinja2
import asyncpg
import jinja2
from aiohttp import web

DEVICE_BODY = "x" * 1024
USERS_QUERY = "SELECT id, name, email FROM users ORDER BY id"
MESSAGES_QUERY = "SELECT id, text FROM messages"

ITEMS = web.AppKey("items", list)
CLIENT = web.AppKey("client", aiohttp.ClientSession)
POOL = web.AppKey("pool", asyncpg.Pool)
routes = web.RouteTableDef()


def connections_of_this_process() -> int:
    """DATABASE_POOL is for the whole target, so the workers share it out."""
    whole = int(os.environ.get("DATABASE_POOL", "10"))
    return max(1, whole // int(os.environ.get("WORKERS", "1")))


async def upstream_client(app: web.Application):
    # The connector would allow 100 connections at once and let the others wait.
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as app[CLIENT]:
        yield


async def database(app: web.Application):
    async with asyncpg.create_pool(
        os.environ["DATABASE_URL"], min_size=1, max_size=connections_of_this_process()
    ) as app[POOL]:
        yield


def catalogue(n: int) -> dict:
    items = [{"id": i, "name": f"Item {i} <of> page {n} & more", "price": i * n} for i in range(1, 13)]
    return {"n": n, "items": items}


def with_added(rows: list, text: str) -> list[dict]:
    """The rows and one more, in the order of their texts: Python compares code points."""
    return sorted([*map(dict, rows), {"id": 0, "text": text}], key=lambda row: row["text"])


@routes.get("/")
async def hello(request: web.Request):
    return web.Response(text="Hello World!")


@routes.get("/hola/{name}")
async def hola(request: web.Request):
    return web.Response(text=f"Hola {request.match_info['name']}")


@routes.get(r"/page/{n:\d+}")
@aiohttp_jinja2.template("page.html")
async def page(request: web.Request):
    return catalogue(int(request.match_info["n"]))


@routes.get("/device")
async def device(request: web.Request):
    # uvloop counts whole milliseconds from a clock that is rounded down: 96 to 105 wait 95 to 105 ms.
    await asyncio.sleep(random.randint(96, 105) / 1000)
    return web.Response(text=DEVICE_BODY)


@routes.get("/events", allow_head=False)
async def events(request: web.Request):
    """An event each 100 ms: its number, and the milliseconds since 1970."""
    answer = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
    await answer.prepare(request)
    for n in range(100):
        if n:
            await asyncio.sleep(0.1)
        await answer.write(f"data: {n} {time.time_ns() // 1_000_000}\n\n".encode())
    await answer.write_eof()
    return answer


@routes.post("/upload")
async def upload(request: web.Request):
    digest, length = hashlib.sha256(), 0
    async for piece in request.content.iter_any():
        digest.update(piece)
        length += len(piece)
    return web.Response(text=f"{length} {digest.hexdigest()}")


async def users(request: web.Request):
    rows = await request.app[POOL].fetch(USERS_QUERY)
    return web.json_response([dict(row) for row in rows])


@aiohttp_jinja2.template("messages.html")
async def messages(request: web.Request):
    rows = await request.app[POOL].fetch(MESSAGES_QUERY)
    return {"messages": with_added(rows, request.query["add"])}


async def json_items(request: web.Request):
    n, m = int(request.match_info["n"]), int(request.query["m"])
    items = [{**item, "total": item["price"] * item["quantity"] * m} for item in request.app[ITEMS][:n]]
    answer = web.json_response({"count": len(items), "items": items}, headers={"Vary": "Accept-Encoding"})
    answer.enable_compression()  # for clients that accept a coding
    return answer


async def proxy(request: web.Request):
    async with request.app[CLIENT].get(os.environ["UPSTREAM_URL"] + "/slow") as answer:
        return web.Response(text=await answer.text(), status=answer.status)


async def create_app() -> web.Application:
    app = web.Application()
    aiohttp_jinja2.setup(app, loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"))
    app.add_routes(routes)
    if "DATABASE_URL" in os.environ:
        app.cleanup_ctx.append(database)
        app.router.add_get("/api/users/", users)
        app.router.add_get("/messages", messages)
    if path := os.environ.get("ITEMS_FILE"):
        app[ITEMS] = json.loads(Path(path).read_text("utf-8"))
        app.router.add_get(r"/json/{n:\d+}", json_items)
    if "STATIC_FOLDER" in os.environ:
        app.router.add_static("/static", os.environ["STATIC_FOLDER"])
    if "UPSTREAM_URL" in os.environ:
        app.cleanup_ctx.append(upstream_client)
        app.router.add_get("/api/proxy/", proxy)
    return app
