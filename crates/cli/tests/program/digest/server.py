"""A server that asks for digests (RFC 7616), on Python's standard library alone: the judge of the tests.

Usage: server.py NAME PASSWORD REALM ALGORITHM QOP USES. An ALGORITHM or QOP of "-" is not named. After USES
requests a nonce is stale; 0 is never. Prints its port. /counts says what it has seen, without asking.
"""
import hashlib
import json
import secrets
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import parse_http_list, parse_keqv_list

NAME, PASSWORD, REALM, ALGORITHM, QOP, USES = sys.argv[1:7]
USES = int(USES)
OPAQUE = 'a "quoted" one'
HASH = hashlib.sha256 if ALGORITHM.upper().startswith("SHA-256") else hashlib.md5

lock = threading.Lock()
# Of each nonce: how often it was accepted, and the last count of its client.
nonces = {}
counts = {"accepted": 0, "asked": 0, "stale": 0, "refused": 0, "why": {}, "bodies": 0, "own_nonces": 0}


def digest(*parts):
    return HASH(":".join(parts).encode()).hexdigest()


def expected(method, given):
    secret = digest(NAME, REALM, PASSWORD)
    if ALGORITHM.lower().endswith("-sess"):
        secret = digest(secret, given["nonce"], given["cnonce"])
    asked = digest(method, given["uri"])
    if QOP == "-":
        return digest(secret, given["nonce"], asked)
    return digest(secret, given["nonce"], given["nc"], given["cnonce"], given["qop"], asked)


def judge(method, path, header):
    """What becomes of a request: "accepted", "asked", "stale", or why it is refused."""
    if header is None:
        return "asked"
    scheme, _, rest = header.partition(" ")
    if scheme.lower() != "digest":
        return "scheme " + scheme
    given = parse_keqv_list(parse_http_list(rest))
    for key, value in {"username": NAME, "realm": REALM, "uri": path}.items():
        if given.get(key) != value:
            return key
    if given.get("opaque", "").replace("\\", "") != OPAQUE:
        return "opaque"
    if ALGORITHM != "-" and given.get("algorithm") != ALGORITHM:
        return "algorithm"
    if QOP != "-" and (given.get("qop") != "auth" or len(given.get("nc", "")) != 8):
        return "qop or nc"
    if QOP == "-" and ("qop" in given or "nc" in given or "cnonce" in given):
        return "a count that nobody asked for"
    nonce = nonces.get(given["nonce"])
    if nonce is None:
        return "nonce"
    if given["response"] != expected(method, given):
        return "response"
    if QOP != "-":
        count = int(given["nc"], 16)
        if count != nonce["count"] + 1:
            return "count %d after %d" % (count, nonce["count"])
        nonce["count"] = count
        nonce["own"].add(given["cnonce"])
    nonce["uses"] += 1
    return "stale" if USES and nonce["uses"] > USES else "accepted"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16

    def answer(self):
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        if self.path == "/counts":
            with lock:
                text = json.dumps({**counts, "nonces": len([1 for one in nonces.values() if one["uses"]])})
            return self.say(200, text.encode())
        if self.path == "/open":
            return self.say(200, b"open")
        with lock:
            verdict = judge(self.command, self.path, self.headers.get("Authorization"))
            if verdict not in counts:
                counts["why"][verdict] = counts["why"].get(verdict, 0) + 1
                verdict = "refused"
            counts[verdict] += 1
            counts["bodies"] += verdict == "accepted" and len(body) > 0
            if verdict != "accepted":
                nonce = secrets.token_urlsafe(24)
                nonces[nonce] = {"uses": 0, "count": 0, "own": set()}
        if verdict == "accepted":
            if self.path.startswith("/old"):
                return self.say(302, b"", [("Location", "/new?a=b")])
            return self.say(200, b"secret page")
        parts = ['realm="%s"' % REALM, 'nonce="%s"' % nonce, 'opaque="%s"' % OPAQUE.replace('"', '\\"')]
        parts += [] if ALGORITHM == "-" else ["algorithm=" + ALGORITHM]
        parts += [] if QOP == "-" else ['qop="%s"' % QOP]
        parts += ["stale=true"] if verdict == "stale" else []
        self.say(401, b"who asks?", [("WWW-Authenticate", "Digest " + ", ".join(parts))])

    def say(self, status, body, fields=()):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if self.command != "HEAD" else b"")

    do_GET = do_POST = do_PUT = do_HEAD = answer

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
