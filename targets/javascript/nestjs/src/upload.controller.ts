import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Controller, Header, HttpCode, Post, Req } from "@nestjs/common";

@Controller()
export class UploadController {
  /** Digests the body as it comes: Nest's parsers leave this media type alone. */
  @Post("/upload")
  @HttpCode(200)
  @Header("Content-Type", "text/plain; charset=utf-8")
  async upload(@Req() request: IncomingMessage): Promise<string> {
    const hash = createHash("sha256");
    let length = 0;
    for await (const piece of request) {
      hash.update(piece);
      length += piece.length;
    }
    return `${length} ${hash.digest("hex")}`;
  }
}
