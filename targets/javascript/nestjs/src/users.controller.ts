import { Controller, Get, Inject, OnApplicationShutdown } from "@nestjs/common";
import type { Pool } from "pg";

@Controller()
export class UsersController implements OnApplicationShutdown {
  constructor(@Inject("POOL") private readonly pool: Pool) {}

  @Get("/api/users/")
  async users() {
    const { rows } = await this.pool.query("SELECT id, name, email FROM users ORDER BY id");
    return rows;
  }

  async onApplicationShutdown() {
    await this.pool.end();
  }
}
