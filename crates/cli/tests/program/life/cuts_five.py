"""A server with a known life: it listens 0.4 s after its start, each answer takes 0.3 s, and at
SIGTERM it cuts off five open requests, answers the others, refuses connections, and ends with 0."""
import os
import signal
import socket
import threading
import time

CUT = 5
lock = threading.Lock()
stopping = threading.Event()
open_requests = set()

time.sleep(0.4)
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", int(os.environ["PORT"])))
listener.listen(128)


def answer(head):
    method, path = head.split()[:2]
    if path != b"/":
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    close = b"Connection: close\r\n" if stopping.is_set() else b""
    body = b"" if method == b"HEAD" else b"Hello World!"
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n" + close + b"\r\n" + body


def serve(connection):
    data = b""
    while True:
        while b"\r\n\r\n" not in data:
            got = connection.recv(65536)
            if not got:
                return
            data += got
        head, data = data.split(b"\r\n\r\n", 1)
        with lock:
            open_requests.add(connection)
        time.sleep(0.3)
        with lock:
            if connection not in open_requests:
                return
            open_requests.discard(connection)
        connection.sendall(answer(head))
        if stopping.is_set():
            connection.close()
            return


def accept():
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


def stop(*_):
    stopping.set()
    # Wakes up the thread that accepts, too.
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    with lock:
        for connection in list(open_requests)[:CUT]:
            open_requests.discard(connection)
            connection.shutdown(socket.SHUT_RDWR)
    threading.Timer(1, lambda: os._exit(0)).start()


signal.signal(signal.SIGTERM, stop)
threading.Thread(target=accept, daemon=True).start()
while True:
    signal.pause()
