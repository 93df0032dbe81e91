"""Pippin's workloads on Litestar, with Jinja2, asyncpg and httpx."""

import asyncio
import hashlib
import json
import os
import random
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import httpx
from litestar import Litestar, MediaType, Request, Response, get, post
from litestar.config.compression import CompressionConfig
from litestar.contrib.jinja import JinjaTemplateEngine
from litestar.datastructures import State
from litestar.response import ServerSentEvent, Template
from litestar.template.config import TemplateConfig

import products

DEVICE_BODY = "x" * 1024
USERS_QUERY = "SELECT id, name, email FROM users ORDER BY id"
MESSAGES_QUERY = "SELECT id, text FROM messages"


@dataclass
class User:
    id: int
    name: str
    email: str


def connections_of_this_process() -> int:
    """DATABASE_POOL is for the whole target, so the workers share it out."""
    whole = int(os.environ.get("DATABASE_POOL", "10"))
    return max(1, whole // int(os.environ.get("WORKERS", "1")))


def upstream_client() -> httpx.AsyncClient:
    """httpx would allow 100 connections at once and let the others wait; the 20 that it keeps idle stay as they are."""
    return httpx.AsyncClient(limits=httpx.Limits(max_connections=None, max_keepalive_connections=20))


@asynccontextmanager
async def lifespan(app: Litestar):
    if path := os.environ.get("ITEMS_FILE"):
        app.state.entries = json.loads(Path(path).read_text("utf-8"))
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


@get("/", media_type=MediaType.TEXT)
async def hello() -> str:
    return "Hello World!"


@get("/hola/{name:str}", media_type=MediaType.TEXT)
async def hola(name: str) -> str:
    return f"Hola {name}"


@get("/page/{n:int}")
async def page(n: int) -> Template:
    return Template("page.html", context=catalogue(n))


@get("/json/{n:int}")
async def json_items(state: State, n: int, m: int) -> dict:
    items = [{**item, "total": item["price"] * item["quantity"] * m} for item in state.entries[:n]]
    return {"count": len(items), "items": items}


# By default a body has at most 10 MB.
@post("/upload", media_type=MediaType.TEXT, status_code=200, request_max_body_size=20_000_000)
async def upload(request: Request) -> str:
    digest, length = hashlib.sha256(), 0
    async for piece in request.stream():
        digest.update(piece)
        length += len(piece)
    return f"{length} {digest.hexdigest()}"


@get("/api/users/")
async def users(state: State) -> list[User]:
    return [User(**row) for row in await state.pool.fetch(USERS_QUERY)]


@get("/messages")
async def messages(state: State, add: str) -> Template:
    rows = await state.pool.fetch(MESSAGES_QUERY)
    return Template("messages.html", context={"messages": with_added(rows, add)})


@get("/api/proxy/", media_type=MediaType.TEXT)
async def proxy(state: State) -> Response[str]:
    answer = await state.client.get(os.environ["UPSTREAM_URL"] + "/slow")
    return Response(answer.text, status_code=answer.status_code)


@get("/device", media_type=MediaType.TEXT)
async def device() -> str:
    # uvloop counts whole milliseconds from a clock that is rounded down: 96 to 105 wait 95 to 105 ms.
    await asyncio.sleep(random.randint(96, 105) / 1000)
    return DEVICE_BODY


async def stream_of_events():
    """An event each 100 ms: its number, and the milliseconds since 1970."""
    for n in range(100):
        if n:
            await asyncio.sleep(0.1)
        yield f"{n} {time.time_ns() // 1_000_000}"


@get("/events")
async def events() -> ServerSentEvent:
    return ServerSentEvent(stream_of_events())


handlers = [hello, hola, page, device, events, upload]
if "DATABASE_URL" in os.environ:
    handlers += [users, messages, products.routes]
if "ITEMS_FILE" in os.environ:
    handlers.append(json_items)
if "UPSTREAM_URL" in os.environ:
    handlers.append(proxy)

app = Litestar(
    handlers,
    lifespan=[lifespan],
    template_config=TemplateConfig(directory=Path(__file__).parent / "templates", engine=JinjaTemplateEngine),
    compression_config=CompressionConfig(backend="gzip") if "ITEMS_FILE" in os.environ else None,
    openapi_config=None,
)
