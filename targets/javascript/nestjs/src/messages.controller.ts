import { Controller, Get, Inject, Query, Render } from "@nestjs/common";
import type { Pool } from "pg";

@Controller()
export class MessagesController {
  constructor(@Inject("POOL") private readonly pool: Pool) {}

  /** The rows and an added one, in the order of their texts: JavaScript compares UTF-16 code units. */
  @Get("/messages")
  @Render("messages")
  async messages(@Query("add") text: string) {
    const { rows } = await this.pool.query<{ id: number; text: string }>("SELECT id, text FROM messages");
    const messages = [...rows, { id: 0, text }];
    messages.sort((a, b) => (a.text < b.text ? -1 : 1));
    return { title: "Messages", messages };
  }
}
