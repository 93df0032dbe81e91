import { Controller, type MessageEvent, Sse } from "@nestjs/common";
import { map, type Observable, take, timer } from "rxjs";

@Controller()
export class EventsController {
  /** An event each 100 ms: its number, and the milliseconds since 1970. */
  @Sse("/events")
  events(): Observable<MessageEvent> {
    return timer(0, 100).pipe(
      take(100),
      map((n) => ({ data: `${n} ${Date.now()}` })),
    );
  }
}
