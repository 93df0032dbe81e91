import { setTimeout as sleep } from "node:timers/promises";
import { Controller, Get, Header, Param } from "@nestjs/common";

const deviceBody = "x".repeat(1024);
const plainText = "text/plain; charset=utf-8";

@Controller()
export class PlainController {
  @Get("/")
  @Header("Content-Type", plainText)
  hello(): string {
    return "Hello World!";
  }

  @Get("/hola/:name")
  @Header("Content-Type", plainText)
  hola(@Param("name") name: string): string {
    return `Hola ${name}`;
  }

  // Timers count whole milliseconds from a clock that is rounded down: 96 to 105 wait 95 to 105 ms.
  @Get("/device")
  @Header("Content-Type", plainText)
  async device(): Promise<string> {
    await sleep(96 + Math.floor(Math.random() * 10));
    return deviceBody;
  }
}
