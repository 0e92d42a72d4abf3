"""Commands without the start of Python and its imports, which is most of their time: a process that has them forks.

As a program, `python -IS forked.py SOCKET argument ..` is `python -m svmtool argument ..`, and with -c and a code that
code: it passes its arguments, environment, folder and standard streams to the server, which forks, and ends with the
status of the forked process.
"""

import _socket
import marshal
import posix
import sys

# Words of modules that a command imports itself: they receive signals, or load what no command does.
LEFT_OUT = {"start", "entry", "__main__", "sklearn", "compat", "distributed", "spark", "build", "power_table"}


def main() -> int:
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    server.connect(sys.argv[1])
    order = marshal.dumps((sys.argv[2:], posix.environ, posix.getcwd()))
    streams = b"".join(fd.to_bytes(4, sys.byteorder) for fd in (0, 1, 2))
    server.sendmsg([len(order).to_bytes(8, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    server.sendall(order)
    return int(server.recv(8))


def serve(path: str) -> None:
    """Fork for each command until standard input, a pipe, ends."""
    import contextlib
    import gc
    import importlib
    import os
    import pathlib
    import select
    import signal
    import socket

    repository = pathlib.Path(__file__).parents[2]
    ours = [path.relative_to(repository).with_suffix("").parts for path in (repository / "svmtool").rglob("*.py")]
    names = [".".join(words) for words in ours if not {*words} & LEFT_OUT]
    for name in [*names, "jinja2", "matplotlib.figure", "matplotlib.backends.backend_svg"]:
        with contextlib.suppress(ImportError):  # what an extra has may be absent
            importlib.import_module(name)

    gc.freeze()  # a command searches only what it makes itself for garbage
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: dict[int, socket.socket] = {}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(100)
        os.write(1, b"ready")
        while True:
            ready, _, _ = select.select([listener, woken, 0], [], [])
            if 0 in ready:
                return
            if woken in ready:
                os.read(woken, 1000)
                for pid in list(running):
                    ended, status = os.waitpid(pid, os.WNOHANG)
                    if ended:
                        running.pop(pid).sendall(b"%d" % (os.waitstatus_to_exitcode(status) % 256))
            if listener in ready:
                client, _ = listener.accept()
                pid = os.fork()
                if pid == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    os.close(woken), os.close(wake), listener.close()
                    _become(client)
                running[pid] = client


def _become(client) -> None:
    """Be the command that the client asks for."""
    import os
    import socket

    head, streams, _, _ = socket.recv_fds(client, 8, 3)
    with client.makefile("rb") as file:
        argv, environment, folder = marshal.loads(file.read(int.from_bytes(head, "big")))
    client.close()
    for fd, stream in enumerate(streams):
        os.dup2(stream, fd)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environb.update(environment)
    sys.stdin, sys.stdout, sys.stderr = (open(fd, mode, closefd=False) for fd, mode in enumerate("rww"))
    sys.argv[:] = ["svmtool", *argv]
    if argv[0] == "-c":
        status = 0
        try:
            exec(argv[1], {"__name__": "__main__"})
        except SystemExit as e:
            if isinstance(e.code, str):
                raise
            status = e.code or 0
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(status)  # else Python takes a tenth of a second to free what the server has loaded
    from svmtool import __main__

    __main__.main()  # ends the process


if __name__ == "__main__":
    sys.exit(main())
