"""Pippin's workloads on Flask, with Jinja2 and psycopg."""

import hashlib
import json
import os

from flask import Flask, Response, jsonify, render_template, request
from flask_compress import Compress
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

from products import product_routes

USERS_QUERY = "SELECT id, name, email FROM users ORDER BY id"
MESSAGES_QUERY = "SELECT id, text FROM messages"

app = Flask(__name__, static_folder=os.environ.get("STATIC_FOLDER"), static_url_path="/static")


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
    return Response("Hello World!", mimetype="text/plain")


@app.get("/hola/<name>")
def hola(name: str):
    return Response(f"Hola {name}", mimetype="text/plain")


@app.get("/page/<int:n>")
def page(n: int):
    return render_template("page.html", **catalogue(n))


@app.post("/upload")
def upload():
    digest, length = hashlib.sha256(), 0
    while piece := request.stream.read(64 * 1024):
        digest.update(piece)
        length += len(piece)
    return Response(f"{length} {digest.hexdigest()}", mimetype="text/plain")


if pool:

    @app.get("/api/users/")
    def users():
        with pool.connection() as connection:
            return jsonify(connection.execute(USERS_QUERY).fetchall())

    @app.get("/messages")
    def messages():
        with pool.connection() as connection:
            rows = connection.execute(MESSAGES_QUERY).fetchall()
        return render_template("messages.html", messages=with_added(rows, request.args["add"]))

    app.register_blueprint(product_routes(pool))


if path := os.environ.get("ITEMS_FILE"):
    with open(path, encoding="utf-8") as file:
        all_items = json.load(file)
    app.config["COMPRESS_REGISTER"] = False  # not all views, only those that say so
    compress = Compress(app)

    # For clients that accept a coding, of this view alone.
    @app.get("/json/<int:n>")
    @compress.compressed()
    def json_items(n: int):
        m = request.args.get("m", 1, type=int)
        items = [{**item, "total": item["price"] * item["quantity"] * m} for item in all_items[:n]]
        return jsonify(count=len(items), items=items)
