"""Replace http.server by the framework. What Python itself has the means for is served so far: http.server knows no chunks."""
import json
import os
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

# The variable is there where `json` is measured.
items_file = os.environ.get("ITEMS_FILE")
all_items = json.loads(Path(items_file).read_text("utf-8")) if items_file else None


def with_totals(n: int, m: int) -> dict:
    """The first n items, each with its price times quantity times m."""
    items = [{**item, "total": item["price"] * item["quantity"] * m} for item in all_items[:n]]
    return {"count": len(items), "items": items}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urlsplit(self.path)
        listed = re.fullmatch(r"/json/(\d+)", url.path)
        if url.path == "/":
            self.answer(200, "text/plain", b"Hello World!")
        elif listed and all_items is not None:
            m = int(parse_qs(url.query)["m"][0])
            self.answer(200, "application/json", json.dumps(with_totals(int(listed[1]), m)).encode())
        else:
            self.answer(404, "text/plain", b"")

    do_HEAD = do_GET

    def answer(self, status: int, kind: str, body: bytes):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Handler).serve_forever()
