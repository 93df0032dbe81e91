"""Pippin's workloads on Starlette, with Jinja2, asyncpg and httpx."""

import asyncio
import hashlib
import json
import os
import random
import time
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import httpx
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates

import products

DEVICE_BODY = "x" * 1024
USERS_QUERY = "SELECT id, name, email FROM users ORDER BY id"
MESSAGES_QUERY = "SELECT id, text FROM messages"

templates = Jinja2Templates(Path(__file__).parent / "templates")


def connections_of_this_process() -> int:
    """DATABASE_POOL is for the whole target, so the workers share it out."""
    whole = int(os.environ.get("DATABASE_POOL", "10"))
    return max(1, whole // int(os.environ.get("WORKERS", "1")))


def upstream_client() -> httpx.AsyncClient:
    """httpx would allow 100 connections at once and let the others wait; the 20 that it keeps idle stay as they are."""
    return httpx.AsyncClient(limits=httpx.Limits(max_connections=None, max_keepalive_connections=20))


@asynccontextmanager
async def lifespan(app: Starlette):
    if path := os.environ.get("ITEMS_FILE"):
        app.state.items = json.loads(Path(path).read_text("utf-8"))
    if url := os.environ.get("DATABASE_URL"):
        app.state.pool = await asyncpg.create_pool(url, min_size=1, max_size=connections_of_this_process())
    async with upstream_client() as app.state.client:
        yield
    if url:
        await app.state.pool.close()


def catalogue(n: int) -> dict:
    items = [{"id": i, "name": f"Item {i} <of> page {n} & more", "price": i * n} for i in range(1, 13)]
    return {"n": n, "items": items}


def with_added(rows: list, text: str) -> list[dict]:
    """The rows and one more, in the order of their texts: Python compares code points."""
    return sorted([*map(dict, rows), {"id": 0, "text": text}], key=lambda row: row["text"])


async def hello(request: Request):
    return PlainTextResponse("Hello World!")


async def hola(request: Request):
    return PlainTextResponse(f"Hola {request.path_params['name']}")


async def page(request: Request):
    return templates.TemplateResponse(request, "page.html", catalogue(request.path_params["n"]))


async def users(request: Request):
    rows = await request.app.state.pool.fetch(USERS_QUERY)
    return JSONResponse([dict(row) for row in rows])


async def messages(request: Request):
    rows = await request.app.state.pool.fetch(MESSAGES_QUERY)
    added = with_added(rows, request.query_params["add"])
    return templates.TemplateResponse(request, "messages.html", {"messages": added})


async def json_items(request: Request):
    n, m = request.path_params["n"], int(request.query_params["m"])
    items = [{**item, "total": item["price"] * item["quantity"] * m} for item in request.app.state.items[:n]]
    return JSONResponse({"count": len(items), "items": items})


async def proxy(request: Request):
    answer = await request.app.state.client.get(os.environ["UPSTREAM_URL"] + "/slow")
    return PlainTextResponse(answer.text, status_code=answer.status_code)


async def device(request: Request):
    # uvloop counts whole milliseconds from a clock that is rounded down: 96 to 105 wait 95 to 105 ms.
    await asyncio.sleep(random.randint(96, 105) / 1000)
    return PlainTextResponse(DEVICE_BODY)


async def stream_of_events():
    """An event each 100 ms: its number, and the milliseconds since 1970."""
    for n in range(100):
        if n:
            await asyncio.sleep(0.1)
        yield f"data: {n} {time.time_ns() // 1_000_000}\n\n"


async def events(request: Request):
    return StreamingResponse(stream_of_events(), media_type="text/event-stream", headers={"Cache-Control": "no-store"})


async def upload(request: Request):
    digest, length = hashlib.sha256(), 0
    async for piece in request.stream():
        digest.update(piece)
        length += len(piece)
    return PlainTextResponse(f"{length} {digest.hexdigest()}")


routes = [
    Route("/", hello),
    Route("/hola/{name}", hola),
    Route("/page/{n:int}", page),
    Route("/device", device),
    Route("/events", events, methods=["GET"]),
    Route("/upload", upload, methods=["POST"]),
]
if "DATABASE_URL" in os.environ:
    routes.append(Route("/api/users/", users))
    routes.append(Route("/messages", messages))
    routes += products.routes
if "ITEMS_FILE" in os.environ:
    # For clients that accept gzip, of this route alone.
    routes.append(Route("/json/{n:int}", json_items, middleware=[Middleware(GZipMiddleware)]))
if "STATIC_FOLDER" in os.environ:
    routes.append(Mount("/static", StaticFiles(directory=os.environ["STATIC_FOLDER"])))
if "UPSTREAM_URL" in os.environ:
    routes.append(Route("/api/proxy/", proxy))

app = Starlette(routes=routes, lifespan=lifespan)
