"""TCP connections between the processes of one run, with mutual HMAC authentication by the run's key.

The handshake is multiprocessing's.  Nothing is unpickled before it is over.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from typing import Any

HELLO_SECONDS = 30.0  # for each message of a handshake
PAUSE_SECONDS = 0.2  # after a connection that could not be accepted, for want of file descriptors say


class Listener:
    """A port of the interface `host` to which processes of the run connect.

    accepted(connection, hello) is called with the first message of each that proves the key, in a thread of its own:
    one that connects and sends nothing, or something else, delays nobody.
    """

    def __init__(self, host: str, key: bytes, accepted: Callable[[Connection, Any], None], backlog: int = 128):
        self._key, self._accepted, self._closed = key, accepted, False
        self._socket = socket.create_server((host, 0), backlog=backlog)
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while not self._closed:
            try:
                caller, _ = self._socket.accept()
                threading.Thread(target=self._handshake, args=(caller,), daemon=True).start()
            except (OSError, RuntimeError):  # RuntimeError: no space for a thread
                time.sleep(PAUSE_SECONDS)

    def _handshake(self, caller: socket.socket) -> None:
        connection = _limited(caller)
        try:
            deliver_challenge(connection, self._key)
            answer_challenge(connection, self._key)
            hello = connection.recv()
            _established(connection)
        except Exception:  # whatever a peer without the key may send
            connection.close()
            return
        self._accepted(connection, hello)

    def close(self) -> None:
        self._closed = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # or `accept` would go on waiting
        self._socket.close()


def connect(address: tuple[str, int], key: bytes) -> Connection:
    """A connection to a Listener, which waits for the first message; OSError, EOFError, AuthenticationError."""
    connection = _limited(socket.create_connection(address, HELLO_SECONDS))
    try:
        answer_challenge(connection, key)
        deliver_challenge(connection, key)
        _established(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def own_host(connection: Connection) -> str:
    """The address of this machine under which the other side sees it."""
    with socket.socket(fileno=os.dup(connection.fileno())) as s:
        return s.getsockname()[0]


def _limited(s: socket.socket) -> Connection:
    """The socket as a connection that waits no longer than HELLO_SECONDS for a message."""
    s.settimeout(None)
    _wait_at_most(s, HELLO_SECONDS)
    return Connection(s.detach())


def _established(connection: Connection) -> None:
    """From now on wait without a limit, send at once, and notice when the other side has gone without closing."""
    with socket.socket(fileno=os.dup(connection.fileno())) as s:
        _wait_at_most(s, 0.0)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


def _wait_at_most(s: socket.socket, seconds: float) -> None:
    """A limit of the socket itself (0: none), for Connection reads its file handle; in the layout of C's timeval."""
    limit = struct.pack("ll", int(seconds), int(seconds % 1.0 * 1e6))
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        s.setsockopt(socket.SOL_SOCKET, option, limit)
