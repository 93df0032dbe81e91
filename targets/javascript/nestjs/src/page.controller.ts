import { Controller, Get, NotFoundException, Param, Render } from "@nestjs/common";

@Controller()
export class PageController {
  @Get("/page/:n")
  @Render("page")
  page(@Param("n") text: string) {
    const n = Number(text);
    if (!Number.isSafeInteger(n)) throw new NotFoundException();
    const items: { id: number; name: string; price: number }[] = [];
    for (let id = 1; id <= 12; id += 1) {
      items.push({ id, name: `Item ${id} <of> page ${n} & more`, price: id * n });
    }
    return { n, title: `Page ${n}`, items };
  }
}
