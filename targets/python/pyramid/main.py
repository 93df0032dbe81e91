"""Pippin's workloads on Pyramid, with Chameleon and psycopg."""

import hashlib
import json
import logging
import os
from pathlib import Path

from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool
from pyramid.config import Configurator
from pyramid.response import Response

# waitress writes a line for each request that waits for a thread.
logging.getLogger("waitress.queue").setLevel(logging.ERROR)

USERS_QUERY = "SELECT id, name, email FROM users ORDER BY id"
MESSAGES_QUERY = "SELECT id, text FROM messages"


def plain(text: str) -> Response:
    return Response(text, content_type="text/plain", charset="utf-8")


def hello(request):
    return plain("Hello World!")


def hola(request):
    return plain(f"Hola {request.matchdict['name']}")


def page(request):
    n = int(request.matchdict["n"])
    items = [{"id": i, "name": f"Item {i} <of> page {n} & more", "price": i * n} for i in range(1, 13)]
    return {"title": f"Page {n}", "n": n, "items": items}


def json_items(request):
    n, m = int(request.matchdict["n"]), int(request.GET["m"])
    items = [{**item, "total": item["price"] * item["quantity"] * m} for item in request.registry.items_of_file[:n]]
    return {"count": len(items), "items": items}


def upload(request):
    digest, length = hashlib.sha256(), 0
    while piece := request.body_file.read(64 * 1024):
        digest.update(piece)
        length += len(piece)
    return plain(f"{length} {digest.hexdigest()}")


def users(request):
    with request.registry.pool.connection() as connection:
        return connection.execute(USERS_QUERY).fetchall()


def messages(request):
    with request.registry.pool.connection() as connection:
        rows = connection.execute(MESSAGES_QUERY).fetchall()
    rows.append({"id": 0, "text": request.GET["add"]})
    rows.sort(key=lambda row: row["text"])  # Python compares code points.
    return {"title": "Messages", "messages": rows}


def make_app():
    with Configurator() as config:
        config.include("pyramid_chameleon")
        config.add_route("hello", "/")
        config.add_view(hello, route_name="hello")
        config.add_route("hola", "/hola/{name}")
        config.add_view(hola, route_name="hola")
        config.add_route("page", r"/page/{n:\d+}")
        config.add_view(page, route_name="page", renderer="templates/page.pt")
        config.add_route("upload", "/upload")
        config.add_view(upload, route_name="upload", request_method="POST")
        if path := os.environ.get("ITEMS_FILE"):
            config.registry.items_of_file = json.loads(Path(path).read_text("utf-8"))
            config.add_route("json", r"/json/{n:\d+}")
            config.add_view(json_items, route_name="json", renderer="json")
        if "STATIC_FOLDER" in os.environ:
            config.add_static_view("static", os.environ["STATIC_FOLDER"])
        if url := os.environ.get("DATABASE_URL"):
            size = int(os.environ.get("DATABASE_POOL", "10"))
            config.registry.pool = ConnectionPool(
                url, min_size=1, max_size=size, kwargs={"row_factory": dict_row}, open=True
            )
            config.add_route("users", "/api/users/")
            config.add_view(users, route_name="users", renderer="json")
            config.add_route("messages", "/messages")
            config.add_view(messages, route_name="messages", renderer="templates/messages.pt")
        return config.make_wsgi_app()


app = make_app()
