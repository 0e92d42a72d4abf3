"""Connections between the processes of one run: who has its key comes in, who has not does no harm.

The handshake is multiprocessing's, by HMAC in both directions.  Nothing is unpickled before it is over.
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

HELLO_SECONDS = 30.0  # for each word of a handshake
CALM_SECONDS = 0.2  # after a caller who could not be let in, for want of file handles say


class Door:
    """A port of `host` to which processes of the run connect.

    welcome(connection, hello) is called with what each has said first, in a thread of its own: one that connects and
    says nothing, or something else, keeps nobody waiting.
    """

    def __init__(self, host: str, key: bytes, welcome: Callable[[Connection, Any], None], backlog: int = 128):
        self._key, self._welcome, self._closed = key, welcome, False
        self._socket = socket.create_server((host, 0), backlog=backlog)
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while not self._closed:
            try:
                caller, _ = self._socket.accept()
                threading.Thread(target=self._hear, args=(caller,), daemon=True).start()
            except (OSError, RuntimeError):  # RuntimeError: no room for a thread
                time.sleep(CALM_SECONDS)

    def _hear(self, caller: socket.socket) -> None:
        connection = _limited(caller)
        try:
            deliver_challenge(connection, self._key)
            answer_challenge(connection, self._key)
            hello = connection.recv()
            _prompt(connection)
        except Exception:  # whatever a stranger may send
            connection.close()
            return
        self._welcome(connection, hello)

    def close(self) -> None:
        self._closed = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # or who waits for callers would not notice
        self._socket.close()


def knock(address: tuple[str, int], key: bytes) -> Connection:
    """A connection to a door, which waits for the first word; OSError, EOFError or AuthenticationError if it fails."""
    connection = _limited(socket.create_connection(address, HELLO_SECONDS))
    try:
        answer_challenge(connection, key)
        deliver_challenge(connection, key)
        _prompt(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def own_host(connection: Connection) -> str:
    """The address of this machine under which the other side sees it."""
    with socket.socket(fileno=os.dup(connection.fileno())) as s:
        return s.getsockname()[0]


def _limited(s: socket.socket) -> Connection:
    """The socket as a connection that waits no longer than HELLO_SECONDS for a word."""
    s.settimeout(None)
    _wait_at_most(s, HELLO_SECONDS)
    return Connection(s.detach())


def _prompt(connection: Connection) -> None:
    """From now on wait as long as it takes, send at once, and notice when the other side has gone without a word."""
    with socket.socket(fileno=os.dup(connection.fileno())) as s:
        _wait_at_most(s, 0.0)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


def _wait_at_most(s: socket.socket, seconds: float) -> None:
    """A limit of the socket itself (0: none), for Connection reads its file handle; in the layout of C's timeval."""
    limit = struct.pack("ll", int(seconds), int(seconds % 1.0 * 1e6))
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        s.setsockopt(socket.SOL_SOCKET, option, limit)
