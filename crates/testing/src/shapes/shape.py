"""A server of a given shape: shape.py KIND [ARGUMENT]. It prints its port and its process.

A request is a line: `burn MS` uses so much processor time, `go` does what the shape is about (it
ends, hands over, executes itself anew). The answer is what was used for it, in nanoseconds, by the
account of each process that took part, and the process that answers.
"""
import ctypes
import os
import resource
import signal
import socket
import sys
import threading
import time

LIBC = ctypes.CDLL(None, use_errno=True)


def burn(ms):
    begin = time.process_time_ns()
    while time.process_time_ns() - begin < ms * 1_000_000:
        pass


def used():
    """What this process has used, with the children that it waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time_ns() + int((children.ru_utime + children.ru_stime) * 1e9)


def listen(port=0, host="127.0.0.1", shared=False, only_v6=False):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    s = socket.socket(family)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    if family == socket.AF_INET6:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(only_v6))
    s.bind((host, port))
    s.listen(64)
    return s


def say(s=None, pid=None):
    port = s.getsockname()[1] if s is not None and s.family != socket.AF_UNIX else 0
    print(port, pid or os.getpid(), flush=True)


def serve(s, act=None, go=None):
    """One connection after the other, each with one request. What it takes to read and to answer belongs
    to it: on a slow machine that is much. What comes after an answer was made is told with the next."""
    rest = 0
    while True:
        connection, _ = s.accept()
        begin = used()
        stream = connection.makefile("rwb")
        line = stream.readline().decode().split()
        if not line:
            continue
        others = (act or burn)(int(line[1])) if line[0] == "burn" else None
        end = used()
        ns = end - begin + rest + (others or 0)
        after = go() if line[0] == "go" and go else None
        stream.write(f"{ns} {os.getpid()}\n".encode())
        stream.flush()
        stream.close()
        connection.close()
        rest = used() - end
        if after:
            after()


def fork(work):
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        work()
        os._exit(0)
    return pid


def fork_below(work):
    """Likewise, and it ends with this process."""
    def bound():
        LIBC.prctl(1, 9)
        work()

    return fork(bound)


def in_child(ms):
    """A process of its own for a request, which is waited for."""
    os.waitpid(fork(lambda: burn(ms)), 0)


def ask(target, line):
    family = socket.AF_UNIX if "/" in target else socket.AF_INET
    s = socket.socket(family)
    s.connect(target if "/" in target else ("127.0.0.1", int(target)))
    return s, s.makefile("rwb")


def rename(name):
    LIBC.prctl(15, ctypes.c_char_p(name), 0, 0, 0)


def plain(host="127.0.0.1", port="0"):
    s = listen(int(port), host)
    say(s)
    serve(s)


def only_v6(port):
    s = listen(int(port), "::", only_v6=True)
    say(s)
    serve(s)


def workers(number="3"):
    s = listen()
    for _ in range(int(number)):
        fork(lambda: serve(s))
    say(s)
    os.wait()


def forking():
    s = listen()
    say(s)
    serve(s, act=in_child)


def orphaning():
    """Each request is answered by a worker that then ends, and is followed by another."""
    s = listen()
    say(s)
    while True:
        def once():
            serve(s, go=lambda: lambda: os._exit(0))

        os.waitpid(fork(once), 0)


def hand_over():
    """The first process ends, and a child of it serves on."""
    s = listen()
    say(s)

    def after():
        fork(lambda: serve(s))
        os._exit(0)

    serve(s, go=lambda: after)


def shared(host="127.0.0.1", port="0"):
    s = listen(int(port), host, shared=True)
    say(s)
    serve(s)


def again():
    """Executes itself anew with the same socket, as `nginx -s upgrade` and others do."""
    s = listen()
    say(s)

    def go():
        os.set_inheritable(s.fileno(), True)
        words = [sys.executable, __file__, "inherited", str(s.fileno())]
        return lambda: os.execv(words[0], words)

    serve(s, go=go)


def inherited(descriptor):
    serve(socket.socket(fileno=int(descriptor)))


def daemon(path):
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    s.listen(64)

    def second():
        os.setsid()

        def third():
            say(s)
            serve(s)

        fork(third)

    os.waitpid(fork(second), 0)
    os._exit(0)


def supervisor():
    """Besides its worker, it has a child that does something else."""
    s = listen()

    def other():
        s.close()
        while True:
            burn(20)
            time.sleep(0.02)

    fork(lambda: serve(s))
    fork(other)
    say(s)
    os.wait()


def leak():
    """A background job that was started by the server holds its socket and does nothing."""
    s = listen()

    def job():
        while True:
            time.sleep(1)

    fork(job)
    say(s)
    serve(s)


def busy_leak():
    """The background job works, and never accepts."""
    s = listen()

    def job():
        while True:
            burn(20)

    fork_below(job)
    say(s)
    serve(s)


def two_ports():
    """A master with a worker of each of two ports, which only the master holds: it passes accepted
    connections on, as the cluster of Node and pm2 do. The other worker works for the other port."""
    s, other = listen(), listen()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)

    def worker():
        s.close()
        other.close()
        ours.close()
        while True:
            _, descriptors, _, _ = socket.recv_fds(theirs, 16, 1)
            answer(socket.socket(fileno=descriptors[0]))

    def another():
        s.close()
        other.close()
        ours.close()
        theirs.close()
        while True:
            burn(20)

    fork_below(worker)
    fork_below(another)
    theirs.close()
    say(s)
    while True:
        connection, _ = s.accept()
        socket.send_fds(ours, [b"one"], [connection.fileno()])
        connection.close()


def answer(connection):
    """One request of a connection."""
    begin = used()
    stream = connection.makefile("rwb")
    line = stream.readline().decode().split()
    burn(int(line[1]) if line else 0)
    stream.write(f"{used() - begin} {os.getpid()}\n".encode())
    stream.close()
    connection.close()


def generations():
    """Starts a second generation that serves the same socket, and goes on, as USR2 does in nginx and
    gunicorn."""
    s = listen()
    say(s)

    def go():
        os.set_inheritable(s.fileno(), True)
        words = [sys.executable, __file__, "inherited", str(s.fileno())]
        fork(lambda: os.execv(words[0], words))

    serve(s, go=go)


def reloading():
    """A master of an ordinary user, whose workers are followed by others: `go` is a reload."""
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    s = listen()
    asked = os.pipe()

    def worker():
        def go():
            os.write(asked[1], b"x")
            return lambda: os._exit(0)

        serve(s, go=go)

    fork(worker)
    say(s)
    while os.read(asked[0], 1):
        fork(worker)
        os.wait()


def contained(address="10.213.78.2", gateway="10.213.78.1"):
    """An application in a network namespace of its own, as in a container, and a process of this one
    that passes connections on to it, as docker-proxy does."""
    import subprocess

    ready, made = os.pipe(), os.pipe()

    def container():
        if LIBC.unshare(0x40000000) != 0:
            os._exit(1)
        os.write(made[1], b"x")
        os.read(ready[0], 1)
        application_at(listen(host=address, port=8080))

    app = fork_below(container)
    names = f"pip{os.getpid() % 100000}", f"pup{os.getpid() % 100000}"
    os.set_inheritable(ready[1], False)
    ip = [
        f"link add {names[0]} type veth peer name {names[1]} netns {app}",
        f"addr add {gateway}/30 dev {names[0]}",
        f"link set {names[0]} up",
    ]
    inside = [f"addr add {address}/30 dev {names[1]}", f"link set {names[1]} up"]
    os.read(made[0], 1)
    try:
        for words in ip:
            subprocess.run(["ip", *words.split()], check=True, stderr=subprocess.DEVNULL)
        for words in inside:
            enter = ["nsenter", "-t", str(app), "-n", "ip", *words.split()]
            subprocess.run(enter, check=True, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        os.kill(app, signal.SIGKILL)
        print("cannot", flush=True)
        return
    os.write(ready[1], b"x")
    # The front did not start the container.
    front = fork_below(lambda: (rename(b"front"), pass_on(lambda: reach(address, 8080))))
    os.waitpid(front, 0)


def reach(address, port):
    while True:
        try:
            s = socket.create_connection((address, port))
            return s, s.makefile("rwb")
        except OSError:
            time.sleep(0.01)


def threads():
    """Its first thread has ended."""
    s = listen()
    threading.Thread(target=serve, args=(s,)).start()
    say(s)
    LIBC.pthread_exit(None)


def named(name):
    rename(bytes(name, "utf-8").decode("unicode_escape").encode())
    plain()


def proxy(target):
    """Passes requests on over one connection, and uses a tenth itself."""
    rename(b"front")
    pass_on(lambda: ask(target, None))


def pass_on(reach_upstream):
    s = listen()
    upstream, stream = reach_upstream()
    say(s)

    def act(ms):
        burn(ms // 10)
        stream.write(f"{ms}\n".encode())
        stream.flush()
        return int(stream.readline())

    serve(s, act=act)


def application(path=None):
    """What stands behind a proxy: a line of milliseconds, a line of what was used."""
    if path:
        s = socket.socket(socket.AF_UNIX)
        s.bind(path)
        s.listen(64)
    else:
        s = listen()
    say(s)
    application_at(s)


def application_at(s):
    rename(b"app")
    while True:
        connection, _ = s.accept()
        begin = used()
        stream = connection.makefile("rwb")
        for line in stream:
            burn(int(line))
            end = used()
            stream.write(f"{end - begin}\n".encode())
            stream.flush()
            begin = end


def lonely(address):
    """In a network namespace of its own, with this address. Requests come from standard input."""
    import fcntl
    import struct
    if LIBC.unshare(0x40000000) != 0:
        print("cannot", flush=True)
        return
    control = socket.socket()
    name = b"lo".ljust(16, b"\0")
    request = name + struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(address))
    fcntl.ioctl(control, 0x8916, request)
    fcntl.ioctl(control, 0x8914, name + struct.pack("H14x", 1))
    s = listen(host=address)
    say(s)
    for line in sys.stdin:
        begin = used()
        burn(int(line.split()[1]))
        print(used() - begin, os.getpid(), flush=True)


def bound():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    plain()


def limited(cores="0.5"):
    """In a control group of its own, named by its process, with a quota."""
    quota = int(float(cores) * 100_000)
    version_1 = {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": str(quota)}
    version_2 = {"cpu.max": f"{quota} 100000"}
    for above, limits in ("cpu", version_1), ("", version_2):
        folder = os.path.join("/sys/fs/cgroup", above, f"pippin-shape-{os.getpid()}")
        try:
            os.mkdir(folder)
            for name, value in (*limits.items(), ("cgroup.procs", str(os.getpid()))):
                with open(os.path.join(folder, name), "r+") as file:
                    file.write(value)
            return plain()
        except OSError:
            if os.path.isdir(folder):
                os.rmdir(folder)
    print("cannot", flush=True)


def http(s):
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Hello(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(s.getsockname(), Hello, bind_and_activate=False)
    server.socket.close()
    server.socket = s
    server.serve_forever()


def compiling(name, *seconds):
    """An HTTP server with a thread of this name. Each of `seconds` says what an answer costs and
    what the thread uses: `MICROSECONDS:SHARE`. The first begins with the first request, the last
    goes on. `/account` says how many answers were given until the thread last worked, and since."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    import hashlib

    script = [(float(cost), float(share)) for cost, share in (one.split(":") for one in seconds)]
    lock = threading.Lock()
    account = {"began": None, "before": 0, "since": 0}

    def now():
        at = time.monotonic() - account["began"]
        return script[min(int(at), len(script) - 1)]

    def helper():
        with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as comm:
            comm.write(name)
        before, owed = time.monotonic(), 0.0
        data = bytes(64 * 1024)
        while True:
            time.sleep(0.01)
            if account["began"] is None:
                before = time.monotonic()
                continue
            share, at = now()[1], time.monotonic()
            owed, before = owed + share * (at - before), at
            begin = time.thread_time()
            # Digests of long data leave the interpreter to the other threads.
            while time.thread_time() - begin < owed:
                hashlib.sha256(data).digest()
            owed -= time.thread_time() - begin
            if share > 0:
                with lock:
                    account["before"] += account["since"]
                    account["since"] = 0

    class Compiling(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_GET(self):
            body = b"ok"
            if self.path == "/account":
                body = f"{account['before']} {account['since']}".encode()
            else:
                with lock:
                    account["began"] = account["began"] or time.monotonic()
                    account["since"] += 1
                begin = time.thread_time()
                while time.thread_time() - begin < now()[0] / 1e6:
                    pass
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    threading.Thread(target=helper, daemon=True).start()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Compiling)
    server.daemon_threads = True
    say(server.socket)
    server.serve_forever()


def holder(*command):
    """A script that starts a worker, and then a program that is to load it."""
    s = listen()
    worker = fork(lambda: http(s))
    port = s.getsockname()[1]
    os.set_inheritable(s.fileno(), True)
    words = [word.replace("PORT", str(port)) for word in command]
    code = os.waitpid(fork(lambda: os.execvp(words[0], words)), 0)[1]
    os.kill(worker, signal.SIGKILL)
    os._exit(os.waitstatus_to_exitcode(code))


def activator(*command):
    """The first process of a process namespace holds the socket and starts a service, as systemd
    does, and then a program that is to load it."""
    if LIBC.unshare(0x20020000) != 0:
        print("cannot", flush=True)
        return

    def first():
        LIBC.mount(None, b"/", None, 0x44000, None)
        LIBC.mount(b"proc", b"/proc", b"proc", 0, None)
        holder(*command)

    os._exit(os.waitstatus_to_exitcode(os.waitpid(fork(first), 0)[1]))


signal.alarm(60)
globals()[sys.argv[1]](*sys.argv[2:])
