"""Pippin's workloads on FastAPI, with Jinja2, asyncpg and httpx."""

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
from fastapi import FastAPI, HTTPException, Request, WebSocket, WebSocketDisconnect
from fastapi.middleware.gzip import GZipMiddleware
from fastapi.responses import PlainTextResponse, StreamingResponse
from fastapi.staticfiles import StaticFiles
from fastapi.templating import Jinja2Templates
from pydantic import BaseModel

import products

DEVICE_BODY = "x" * 1024
USERS_QUERY = "SELECT id, name, email FROM users ORDER BY id"
MESSAGES_QUERY = "SELECT id, text FROM messages"

templates = Jinja2Templates(Path(__file__).parent / "templates")


class User(BaseModel):
    id: int
    name: str
    email: str


class Rating(BaseModel):
    score: float
    count: int


class Item(BaseModel):
    id: int
    name: str
    category: str
    price: int
    quantity: int
    active: bool
    tags: list[str]
    rating: Rating
    total: int


class ItemList(BaseModel):
    count: int
    items: list[Item]


def read_items() -> list[dict]:
    """The items of the data file; none without one."""
    if path := os.environ.get("ITEMS_FILE"):
        return json.loads(Path(path).read_text("utf-8"))
    return []


all_items = read_items()


def connections_of_this_process() -> int:
    """DATABASE_POOL is for the whole target, so the workers share it out."""
    whole = int(os.environ.get("DATABASE_POOL", "10"))
    return max(1, whole // int(os.environ.get("WORKERS", "1")))


@asynccontextmanager
async def lifespan(app: FastAPI):
    app.state.pool = None
    if url := os.environ.get("DATABASE_URL"):
        app.state.pool = await asyncpg.create_pool(url, min_size=1, max_size=connections_of_this_process())
    # httpx would allow 100 connections at once and let the others wait. The 20 that it keeps idle stay as they are:
    # its pool looks through all of them for every request, and again for each idle one.
    app.state.client = httpx.AsyncClient(limits=httpx.Limits(max_connections=None, max_keepalive_connections=20))
    yield
    await app.state.client.aclose()
    if app.state.pool:
        await app.state.pool.close()


app = FastAPI(lifespan=lifespan)
# For clients that accept gzip. It stands before all routes, so it is there only with the route that uses it.
if all_items:
    app.add_middleware(GZipMiddleware)
if "DATABASE_URL" in os.environ:
    app.include_router(products.routes)
if "STATIC_FOLDER" in os.environ:
    app.mount("/static", StaticFiles(directory=os.environ["STATIC_FOLDER"]))


@app.head("/", response_class=PlainTextResponse)
@app.get("/", response_class=PlainTextResponse)
async def hello() -> str:
    return "Hello World!"


@app.head("/hola/{name}", response_class=PlainTextResponse)
@app.get("/hola/{name}", response_class=PlainTextResponse)
async def hola(name: str) -> str:
    return f"Hola {name}"


@app.get("/page/{n}")
async def page(request: Request, n: int):
    items = [{"id": i, "name": f"Item {i} <of> page {n} & more", "price": i * n} for i in range(1, 13)]
    return templates.TemplateResponse(request, "page.html", {"n": n, "items": items})


@app.get("/json/{n}")
async def json_items(n: int, m: int) -> ItemList:
    items = [Item(**item, total=item["price"] * item["quantity"] * m) for item in all_items[:n]]
    return ItemList(count=len(items), items=items)


@app.get("/api/users/")
async def users(request: Request) -> list[User]:
    if request.app.state.pool is None:
        raise HTTPException(404)
    rows = await request.app.state.pool.fetch(USERS_QUERY)
    return [User(**row) for row in rows]


@app.get("/messages")
async def messages(request: Request, add: str):
    if request.app.state.pool is None:
        raise HTTPException(404)
    rows = [dict(row) for row in await request.app.state.pool.fetch(MESSAGES_QUERY)]
    rows.append({"id": 0, "text": add})
    rows.sort(key=lambda row: row["text"])  # Python compares code points.
    return templates.TemplateResponse(request, "messages.html", {"messages": rows})


@app.get("/api/proxy/", response_class=PlainTextResponse)
async def proxy(request: Request):
    if "UPSTREAM_URL" not in os.environ:
        raise HTTPException(404)
    answer = await request.app.state.client.get(os.environ["UPSTREAM_URL"] + "/slow")
    return PlainTextResponse(answer.text, status_code=answer.status_code)


async def stream_of_events():
    """An event each 100 ms: its number, and the milliseconds since 1970."""
    for n in range(100):
        if n:
            await asyncio.sleep(0.1)
        yield f"data: {n} {time.time_ns() // 1_000_000}\n\n"


@app.get("/events")
async def events():
    return StreamingResponse(stream_of_events(), media_type="text/event-stream", headers={"Cache-Control": "no-store"})


@app.get("/device", response_class=PlainTextResponse)
async def device() -> str:
    # uvloop counts whole milliseconds from a clock that is rounded down: 96 to 105 wait 95 to 105 ms.
    await asyncio.sleep(random.randint(96, 105) / 1000)
    return DEVICE_BODY


@app.post("/upload", response_class=PlainTextResponse)
async def upload(request: Request) -> str:
    digest, length = hashlib.sha256(), 0
    async for piece in request.stream():
        digest.update(piece)
        length += len(piece)
    return f"{length} {digest.hexdigest()}"


async def send(socket: WebSocket, message: dict) -> None:
    """Sends a message as it came: text or binary. A key that is there may be None."""
    if message.get("text") is not None:
        await socket.send_text(message["text"])
    else:
        await socket.send_bytes(message["bytes"])


@app.websocket("/ws")
async def echo(socket: WebSocket) -> None:
    await socket.accept()
    try:
        while (message := await socket.receive())["type"] != "websocket.disconnect":
            await send(socket, message)
    except WebSocketDisconnect:
        return


# Those to whom each message goes.
room: set[WebSocket] = set()


@app.websocket("/broadcast")
async def broadcast(socket: WebSocket) -> None:
    await socket.accept()
    room.add(socket)
    try:
        while (message := await socket.receive())["type"] != "websocket.disconnect":
            for member in list(room):
                await tell(member, message)
    except WebSocketDisconnect:
        return
    finally:
        room.discard(socket)


async def tell(member: WebSocket, message: dict) -> None:
    """Whoever leaves meanwhile must not keep the message from the others."""
    try:
        await send(member, message)
    except (WebSocketDisconnect, RuntimeError):
        room.discard(member)
