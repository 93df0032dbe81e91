import fs from "node:fs";
import { Controller, Get, Param, ParseIntPipe, Query } from "@nestjs/common";

interface Item {
  price: number;
  quantity: number;
  [field: string]: unknown;
}

@Controller()
export class ItemsController {
  private readonly all: Item[] = JSON.parse(fs.readFileSync(process.env.ITEMS_FILE!, "utf8"));

  /** The first `n` items, each with its price times quantity times `m`. */
  @Get("/json/:n")
  json(@Param("n", ParseIntPipe) n: number, @Query("m", ParseIntPipe) m: number) {
    const items = this.all.slice(0, n).map((item) => ({ ...item, total: item.price * item.quantity * m }));
    return { count: items.length, items };
  }
}
