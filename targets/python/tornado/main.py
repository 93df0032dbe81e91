"""Pippin's workloads on Tornado: its own server, templates and client, with asyncpg."""

import asyncio
import hashlib
import json
import logging
import multiprocessing
import os
import random
import signal
import time
from pathlib import Path

import asyncpg
from tornado.httpclient import AsyncHTTPClient
from tornado.httpserver import HTTPServer
from tornado.ioloop import PeriodicCallback
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler, StaticFileHandler, stream_request_body

DEVICE_BODY = "x" * 1024
TEMPLATES = Path(__file__).parent / "templates"
USERS_QUERY = "SELECT id, name, email FROM users ORDER BY id"
MESSAGES_QUERY = "SELECT id, text FROM messages"


def connections_of_this_process() -> int:
    """DATABASE_POOL is for the whole target, so the workers share it out."""
    whole = int(os.environ.get("DATABASE_POOL", "10"))
    return max(1, whole // int(os.environ.get("WORKERS", "1")))


def catalogue(n: int) -> dict:
    items = [{"id": i, "name": f"Item {i} <of> page {n} & more", "price": i * n} for i in range(1, 13)]
    return {"n": n, "items": items}


class Plain(RequestHandler):
    def set_default_headers(self):
        self.set_header("Content-Type", "text/plain; charset=utf-8")


class Hello(Plain):
    def get(self):
        self.write("Hello World!")

    head = get


class Hola(Plain):
    def get(self, name: str):
        self.write(f"Hola {name}")

    head = get


class Events(RequestHandler):
    async def get(self):
        """An event each 100 ms: its number, and the milliseconds since 1970."""
        self.set_header("Content-Type", "text/event-stream")
        self.set_header("Cache-Control", "no-store")
        for n in range(100):
            if n:
                await asyncio.sleep(0.1)
            self.write(f"data: {n} {time.time_ns() // 1_000_000}\n\n")
            await self.flush()


class Page(RequestHandler):
    def get(self, n: str):
        self.render("page.html", **catalogue(int(n)))


class Users(RequestHandler):
    async def get(self):
        rows = await self.application.settings["pool"].fetch(USERS_QUERY)
        self.set_header("Content-Type", "application/json")
        self.write(json.dumps([dict(row) for row in rows]))


class Messages(RequestHandler):
    async def get(self):
        rows = [dict(row) for row in await self.application.settings["pool"].fetch(MESSAGES_QUERY)]
        # Tornado would trim the text.
        rows.append({"id": 0, "text": self.get_query_argument("add", strip=False)})
        rows.sort(key=lambda row: row["text"])  # Python compares code points.
        self.render("messages.html", messages=rows)


class JsonItems(RequestHandler):
    def get(self, n: str):
        m = int(self.get_query_argument("m"))
        items = [{**item, "total": item["price"] * item["quantity"] * m} for item in self.settings["items"][: int(n)]]
        # A dictionary is written as JSON.
        self.write({"count": len(items), "items": items})


@stream_request_body
class Upload(Plain):
    def prepare(self):
        self.digest, self.length = hashlib.sha256(), 0

    def data_received(self, piece: bytes):
        self.digest.update(piece)
        self.length += len(piece)

    def post(self):
        self.write(f"{self.length} {self.digest.hexdigest()}")


class Proxy(Plain):
    async def get(self):
        answer = await AsyncHTTPClient().fetch(os.environ["UPSTREAM_URL"] + "/slow", raise_error=False)
        self.set_status(answer.code)
        self.write(answer.body)


class Device(Plain):
    async def get(self):
        await asyncio.sleep(random.uniform(0.095, 0.105))
        self.write(DEVICE_BODY)


async def serve(sockets):
    routes = [("/", Hello), (r"/hola/([^/]+)", Hola), (r"/page/(\d+)", Page), ("/device", Device)]
    routes += [("/events", Events), ("/upload", Upload)]
    pool = None
    if url := os.environ.get("DATABASE_URL"):
        pool = await asyncpg.create_pool(url, min_size=1, max_size=connections_of_this_process())
        routes += [("/api/users/", Users), ("/messages", Messages)]
    if "UPSTREAM_URL" in os.environ:
        # The client would make 10 calls at once and let the others wait.
        AsyncHTTPClient.configure(None, max_clients=1_000_000)
        routes.append(("/api/proxy/", Proxy))

    settings = {}
    if path := os.environ.get("ITEMS_FILE"):
        settings = {"items": json.loads(Path(path).read_text("utf-8")), "compress_response": True}
        routes.append((r"/json/(\d+)", JsonItems))
    if "STATIC_FOLDER" in os.environ:
        settings["static_path"] = os.environ["STATIC_FOLDER"]
        # Tornado would keep the tags of files until it ends.
        PeriodicCallback(StaticFileHandler.reset, 500).start()

    app = Application(routes, template_path=TEMPLATES, template_whitespace="all", pool=pool, **settings)
    server = HTTPServer(app)
    server.add_sockets(sockets)

    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    await stopped.wait()
    server.stop()
    await server.close_all_connections()
    if pool:
        await pool.close()


def run(sockets):
    asyncio.run(serve(sockets))


def main():
    logging.getLogger("tornado.access").setLevel(logging.ERROR)
    sockets = bind_sockets(int(os.environ["PORT"]), os.environ["HOST"])
    # Tornado's own fork_processes waits for its children too, but does not pass the signal on to them.
    fork = multiprocessing.get_context("fork")
    children = [fork.Process(target=run, args=(sockets,)) for _ in range(int(os.environ.get("WORKERS", "1")))]
    for child in children:
        child.start()
    signal.signal(signal.SIGTERM, lambda *_: [child.terminate() for child in children])
    for child in children:
        child.join()


if __name__ == "__main__":
    main()
