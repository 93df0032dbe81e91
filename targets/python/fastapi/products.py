"""Products: listed, read, added, changed and removed."""

from typing import Annotated

import asyncpg
from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

routes = APIRouter(prefix="/products")

Text = Annotated[str, Field(min_length=1, max_length=100)]


class ProductInput(BaseModel):
    """What clients send. Without `strict`, pydantic would take "7" for a number."""

    model_config = ConfigDict(strict=True)
    name: Text
    category: Text
    price: Annotated[int, Field(ge=0, le=1_000_000)]


class Product(BaseModel):
    id: int
    name: str
    category: str
    price: int


def product_id(id: int) -> int:
    if id >= 2**31:
        raise HTTPException(404)
    return id


Id = Annotated[int, Depends(product_id)]


async def query_one(request: Request, sql: str, *values) -> Product:
    """The row that a statement returns."""
    try:
        row = await request.app.state.pool.fetchrow(sql, *values)
    except asyncpg.UniqueViolationError as error:
        raise HTTPException(409, "the name is taken") from error
    if row is None:
        raise HTTPException(404)
    return Product(**row)


@routes.get("")
async def index(request: Request, category: str | None = None, page: Annotated[int, Query(ge=1, lt=2**31)] = 1) -> list[Product]:
    where, values = ("WHERE category = $2", [category]) if category else ("", [])
    sql = f"SELECT id, name, category, price FROM products {where} ORDER BY id LIMIT 20 OFFSET $1"
    return [Product(**row) for row in await request.app.state.pool.fetch(sql, (page - 1) * 20, *values)]


# An id that is no number matches no route.
@routes.get("/{id:int}")
async def read(request: Request, id: Id) -> Product:
    return await query_one(request, "SELECT id, name, category, price FROM products WHERE id = $1", id)


@routes.post("", status_code=201)
async def create(request: Request, response: Response, sent: ProductInput) -> Product:
    sql = "INSERT INTO products (name, category, price) VALUES ($1, $2, $3) RETURNING id, name, category, price"
    product = await query_one(request, sql, sent.name, sent.category, sent.price)
    response.headers["Location"] = f"/products/{product.id}"
    return product


@routes.put("/{id:int}")
async def change(request: Request, id: Id, sent: ProductInput) -> Product:
    sql = "UPDATE products SET name = $1, category = $2, price = $3 WHERE id = $4 RETURNING id, name, category, price"
    return await query_one(request, sql, sent.name, sent.category, sent.price, id)


@routes.delete("/{id:int}", status_code=204)
async def remove(request: Request, id: Id) -> None:
    await query_one(request, "DELETE FROM products WHERE id = $1 RETURNING id, name, category, price", id)
