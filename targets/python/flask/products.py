"""Products: listed, read, added, changed and removed."""

import re

from flask import Blueprint, abort, jsonify, request
from psycopg.errors import UniqueViolation
from psycopg_pool import ConnectionPool


def is_text(value) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= 100


def is_price(value) -> bool:
    return type(value) is int and 0 <= value <= 1_000_000


def sent_product() -> dict:
    """The body of the request; 422 where it is no product."""
    body = request.get_json(silent=True)
    if not isinstance(body, dict) or not (is_text(body.get("name")) and is_text(body.get("category")) and is_price(body.get("price"))):
        abort(422, "a product has a name, a category and a price")
    return body


def product_routes(pool: ConnectionPool) -> Blueprint:
    routes = Blueprint("products", __name__, url_prefix="/products")

    def query(sql: str, values: dict) -> list[dict]:
        with pool.connection() as connection:
            return connection.execute(sql, values).fetchall()

    def query_one(sql: str, values: dict) -> dict:
        rows = query(sql, values)
        return rows[0] if rows else abort(404)

    @routes.get("")
    def index():
        page, category = request.args.get("page", "1"), request.args.get("category")
        if not re.fullmatch("0*[1-9][0-9]{0,8}", page):
            abort(422, "page is a number of at least 1")
        where = "WHERE category = %(category)s" if category else ""
        sql = f"SELECT id, name, category, price FROM products {where} ORDER BY id LIMIT 20 OFFSET %(skipped)s"
        return jsonify(query(sql, {"category": category, "skipped": (int(page) - 1) * 20}))

    @routes.get("/<int:id>")
    def read(id: int):
        return query_one("SELECT id, name, category, price FROM products WHERE id = %(id)s", {"id": id})

    @routes.post("")
    def create():
        sql = "INSERT INTO products (name, category, price) VALUES (%(name)s, %(category)s, %(price)s) RETURNING id, name, category, price"
        product = query_one(sql, sent_product())
        return product, 201, {"Location": f"/products/{product['id']}"}

    @routes.put("/<int:id>")
    def change(id: int):
        sql = "UPDATE products SET name = %(name)s, category = %(category)s, price = %(price)s WHERE id = %(id)s RETURNING id, name, category, price"
        return query_one(sql, {**sent_product(), "id": id})

    @routes.delete("/<int:id>")
    def remove(id: int):
        query_one("DELETE FROM products WHERE id = %(id)s RETURNING id", {"id": id})
        return "", 204

    @routes.errorhandler(UniqueViolation)
    def taken(error: UniqueViolation):
        return {"error": "the name is taken"}, 409

    return routes
