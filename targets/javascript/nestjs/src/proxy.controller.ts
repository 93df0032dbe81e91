import { Controller, Get, Res } from "@nestjs/common";

@Controller()
export class ProxyController {
  @Get("/api/proxy/")
  async proxy(@Res() response: any) {
    const answer = await fetch(`${process.env.UPSTREAM_URL}/slow`);
    response.status(answer.status).type("text/plain").send(await answer.text());
  }
}
