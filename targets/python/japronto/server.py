"""Pippin's workloads on Japronto, with asyncpg and aiohttp's client."""

import asyncio
import os

import aiohttp
import asyncpg
from japronto import Application, RouteNotFoundException

USERS_QUERY = "SELECT id, name, email FROM users ORDER BY id"
WORKERS = int(os.environ.get("WORKERS", "1"))


class PerProcess:
    """What each worker opens for itself, on its own event loop and so after the fork, when it is first asked for."""

    def __init__(self, open_it):
        self._open_it = open_it
        self._opening = None

    def __await__(self):
        if self._opening is None:
            self._opening = asyncio.ensure_future(self._open_it())
        return self._opening.__await__()


async def open_pool():
    # DATABASE_POOL is for the whole target, so the workers share it out.
    connections = max(1, int(os.environ.get("DATABASE_POOL", "10")) // WORKERS)
    return await asyncpg.create_pool(os.environ["DATABASE_URL"], min_size=1, max_size=connections)


async def open_client():
    # aiohttp would allow 100 connections at once and let the others wait.
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))


pool = PerProcess(open_pool)
client = PerProcess(open_client)


def hello(request):
    return request.Response(text="Hello World!")


def hola(request):
    return request.Response(text="Hola " + request.match_dict["name"])


async def users(request):
    rows = await (await pool).fetch(USERS_QUERY)
    return request.Response(json=[dict(row) for row in rows])


async def proxy(request):
    async with (await client).get(os.environ["UPSTREAM_URL"] + "/slow") as answer:
        return request.Response(code=answer.status, text=await answer.text())


def without_body(request):
    """HEAD: Japronto sends whatever body a handler gives, so these routes give none."""
    return request.Response()


def not_found(request, exception):
    return request.Response(code=404, text=None if request.method == "HEAD" else "Not Found")


def application():
    app = Application()
    app.add_error_handler(RouteNotFoundException, not_found)
    app.router.add_route("/", hello, method="GET")
    app.router.add_route("/hola/{name}", hola, method="GET")
    if "DATABASE_URL" in os.environ:
        app.router.add_route("/api/users/", users, method="GET")
    if "UPSTREAM_URL" in os.environ:
        app.router.add_route("/api/proxy/", proxy, method="GET")
    app.router.add_route("/", without_body, method="HEAD")
    app.router.add_route("/hola/{name}", without_body, method="HEAD")
    return app


if __name__ == "__main__":
    application().run(os.environ["HOST"], int(os.environ["PORT"]), worker_num=WORKERS)
