import { type H3Event, setResponseHeader } from "h3";

/** A text, which Nitro would otherwise name `text/html`. */
export function plain(event: H3Event, text: string): string {
  setResponseHeader(event, "content-type", "text/plain; charset=utf-8");
  return text;
}
