"""Pippin's workloads on Bottle, with its own SimpleTemplate and psycopg."""

import hashlib
import json
import os

from bottle import Bottle, request, response, static_file, template
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

USERS_QUERY = "SELECT id, name, email FROM users ORDER BY id"
MESSAGES_QUERY = "SELECT id, text FROM messages"

app = Bottle()


def connections_of_this_process() -> int:
    """DATABASE_POOL is for the whole target, so the workers share it out."""
    whole = int(os.environ.get("DATABASE_POOL", "10"))
    return max(1, whole // int(os.environ.get("WORKERS", "1")))


# Each worker imports this module for itself, so the pool is its own.
pool = None
if url := os.environ.get("DATABASE_URL"):
    pool = ConnectionPool(url, min_size=1, max_size=connections_of_this_process(), kwargs={"row_factory": dict_row}, open=True)


def catalogue(n: int) -> dict:
    items = [{"id": i, "name": f"Item {i} <of> page {n} & more", "price": i * n} for i in range(1, 13)]
    return {"n": n, "items": items}


def with_added(rows: list[dict], text: str) -> list[dict]:
    """The rows and one more, in the order of their texts: Python compares code points."""
    return sorted([*rows, {"id": 0, "text": text}], key=lambda row: row["text"])


@app.get("/")
def hello():
    response.content_type = "text/plain; charset=utf-8"
    return "Hello World!"


@app.get("/hola/<name>")
def hola(name: str):
    response.content_type = "text/plain; charset=utf-8"
    return f"Hola {name}"


@app.get("/page/<n:int>")
def page(n: int):
    return template("page", **catalogue(n))


# Not request.body: of chunks, it would look for the frames that gunicorn has taken off.
@app.post("/upload")
def upload():
    digest, length = hashlib.sha256(), 0
    while piece := request.environ["wsgi.input"].read(64 * 1024):
        digest.update(piece)
        length += len(piece)
    response.content_type = "text/plain; charset=utf-8"
    return f"{length} {digest.hexdigest()}"


if path := os.environ.get("ITEMS_FILE"):
    with open(path, encoding="utf-8") as file:
        all_items = json.load(file)

    @app.get("/json/<n:int>")
    def json_items(n: int):
        m = int(request.query.m)
        items = [{**item, "total": item["price"] * item["quantity"] * m} for item in all_items[:n]]
        return {"count": len(items), "items": items}  # Bottle makes JSON of a dictionary.


if folder := os.environ.get("STATIC_FOLDER"):

    @app.get("/static/<path:path>")
    def static(path: str):
        return static_file(path, root=folder)


if pool:

    @app.get("/api/users/")
    def users():
        with pool.connection() as connection:
            rows = connection.execute(USERS_QUERY).fetchall()
        response.content_type = "application/json"
        return json.dumps(rows)

    @app.get("/messages")
    def messages():
        with pool.connection() as connection:
            rows = connection.execute(MESSAGES_QUERY).fetchall()
        return template("messages", messages=with_added(rows, request.query.getunicode("add")))
