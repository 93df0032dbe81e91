"""Products: listed, read, added, changed and removed."""

import re

import asyncpg
from starlette.endpoints import HTTPEndpoint
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


def is_text(value) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= 100


def is_price(value) -> bool:
    return type(value) is int and 0 <= value <= 1_000_000


async def sent_product(request: Request) -> tuple[str, str, int]:
    """Name, category and price from the body; 422 where it is no product."""
    try:
        body = await request.json()
        name, category, price = body["name"], body["category"], body["price"]
    except (ValueError, LookupError, TypeError) as error:
        raise HTTPException(422, "a product has a name, a category and a price") from error
    if not (is_text(name) and is_text(category) and is_price(price)):
        raise HTTPException(422, "a text or the price is out of bounds")
    return name, category, price


def product_id(request: Request) -> int:
    id = request.path_params["id"]
    if id >= 2**31:
        raise HTTPException(404)
    return id


async def query_one(request: Request, sql: str, *values) -> dict:
    """The row that a statement returns."""
    try:
        row = await request.app.state.pool.fetchrow(sql, *values)
    except asyncpg.UniqueViolationError as error:
        raise HTTPException(409, "the name is taken") from error
    if row is None:
        raise HTTPException(404)
    return dict(row)


class Products(HTTPEndpoint):
    async def get(self, request: Request):
        category, page = request.query_params.get("category"), request.query_params.get("page", "1")
        if not re.fullmatch("0*[1-9][0-9]{0,8}", page):
            raise HTTPException(422, "page is a number of at least 1")
        where, values = ("WHERE category = $2", [category]) if category else ("", [])
        sql = f"SELECT id, name, category, price FROM products {where} ORDER BY id LIMIT 20 OFFSET $1"
        rows = await request.app.state.pool.fetch(sql, (int(page) - 1) * 20, *values)
        return JSONResponse([dict(row) for row in rows])

    async def post(self, request: Request):
        sql = "INSERT INTO products (name, category, price) VALUES ($1, $2, $3) RETURNING id, name, category, price"
        product = await query_one(request, sql, *await sent_product(request))
        return JSONResponse(product, 201, {"Location": f"/products/{product['id']}"})


class Product(HTTPEndpoint):
    async def get(self, request: Request):
        sql = "SELECT id, name, category, price FROM products WHERE id = $1"
        return JSONResponse(await query_one(request, sql, product_id(request)))

    async def put(self, request: Request):
        sql = "UPDATE products SET name = $2, category = $3, price = $4 WHERE id = $1 RETURNING id, name, category, price"
        return JSONResponse(await query_one(request, sql, product_id(request), *await sent_product(request)))

    async def delete(self, request: Request):
        await query_one(request, "DELETE FROM products WHERE id = $1 RETURNING id", product_id(request))
        return Response(status_code=204)


# An id that is no number matches no route.
routes = [Route("/products", Products), Route("/products/{id:int}", Product)]
