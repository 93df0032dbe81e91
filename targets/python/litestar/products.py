"""Products: listed, read, added, changed and removed."""

from typing import Annotated

import asyncpg
import msgspec
from litestar import Request, Response, Router, delete, get, post, put
from litestar.datastructures import State
from litestar.di import Provide
from litestar.exceptions import ClientException, NotFoundException
from litestar.params import Parameter

Text = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class ProductInput(msgspec.Struct):
    """What clients send."""

    name: Text
    category: Text
    price: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]


class Product(msgspec.Struct):
    id: int
    name: str
    category: str
    price: int


async def sent_product(request: Request) -> ProductInput:
    """The body, read by msgspec: a parameter `data`, with a DTO or without, would take "7" for a number."""
    try:
        return msgspec.json.decode(await request.body(), type=ProductInput)
    except ValueError as error:
        raise ClientException(str(error)) from error


async def query_one(state: State, sql: str, *values) -> Product:
    """The row that a statement returns."""
    row = await state.pool.fetchrow(sql, *values)
    if row is None:
        raise NotFoundException
    return Product(**row)


def checked(id: int) -> int:
    if id >= 2**31:
        raise NotFoundException
    return id


@get("/")
async def index(
    state: State, category: str | None = None, page: Annotated[int, Parameter(ge=1, lt=2**31)] = 1
) -> list[Product]:
    where, values = ("WHERE category = $2", [category]) if category else ("", [])
    sql = f"SELECT id, name, category, price FROM products {where} ORDER BY id LIMIT 20 OFFSET $1"
    return [Product(**row) for row in await state.pool.fetch(sql, (page - 1) * 20, *values)]


# An id that is no number matches no route.
@get("/{id:int}")
async def read(state: State, id: int) -> Product:
    return await query_one(state, "SELECT id, name, category, price FROM products WHERE id = $1", checked(id))


@post("/")
async def create(state: State, sent: ProductInput) -> Response[Product]:
    sql = "INSERT INTO products (name, category, price) VALUES ($1, $2, $3) RETURNING id, name, category, price"
    product = await query_one(state, sql, sent.name, sent.category, sent.price)
    return Response(product, headers={"Location": f"/products/{product.id}"})


@put("/{id:int}")
async def change(state: State, id: int, sent: ProductInput) -> Product:
    sql = "UPDATE products SET name = $1, category = $2, price = $3 WHERE id = $4 RETURNING id, name, category, price"
    return await query_one(state, sql, sent.name, sent.category, sent.price, checked(id))


@delete("/{id:int}")
async def remove(state: State, id: int) -> None:
    await query_one(state, "DELETE FROM products WHERE id = $1 RETURNING id, name, category, price", checked(id))


def unprocessable(_: Request, error: ClientException) -> Response:
    """Litestar's own answer is 400."""
    return Response({"detail": error.detail}, status_code=422)


def taken(_: Request, error: asyncpg.UniqueViolationError) -> Response:
    return Response({"detail": "the name is taken"}, status_code=409)


routes = Router(
    "/products",
    route_handlers=[index, read, create, change, remove],
    dependencies={"sent": Provide(sent_product)},
    exception_handlers={400: unprocessable, asyncpg.UniqueViolationError: taken},
)
