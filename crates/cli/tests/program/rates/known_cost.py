"""A server whose use of the processor is known: each request takes so many seconds of processor time
by the kernel's own account of the thread that serves it, reading and writing included, and a thread
that polls keeps so much of a processor busy. Usage: known_cost.py COST POLL"""
import os
import signal
import socket
import sys
import threading
import time

COST, POLL = map(float, sys.argv[1:])
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", int(os.environ["PORT"])))
listener.listen(128)


def answer(head):
    method, path = (head.split() + [b"", b""])[:2]
    if path != b"/":
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    body = b"" if method == b"HEAD" else b"Hello World!"
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\n" + body


def serve(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    data, until = b"", time.thread_time()
    while True:
        while b"\r\n\r\n" not in data:
            got = connection.recv(65536)
            if not got:
                return
            data += got
        head, data = data.split(b"\r\n\r\n", 1)
        # What the last answer took after it was written is part of this request's time.
        until += COST
        while time.thread_time() < until:
            pass
        connection.sendall(answer(head))


def poll():
    began = time.monotonic()
    while True:
        time.sleep(0.004)
        while time.thread_time() < POLL * (time.monotonic() - began):
            pass


def accept():
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


if POLL > 0:
    threading.Thread(target=poll, daemon=True).start()
threading.Thread(target=accept, daemon=True).start()
while True:
    signal.pause()
