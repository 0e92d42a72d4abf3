"""TCP listener and client with mutual HMAC authentication by the run's key.

The handshake is multiprocessing's.  Nothing is unpickled before it is complete.
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

HELLO_SECONDS = 30.0  # time limit of each message of a handshake
PAUSE_SECONDS = 0.2  # after a failed accept, for example without free file descriptors


class Listener:
    """Accepts connections of the run's processes on the interface `host`, at `port`.

    accepted(connection, hello) is called with the first message of each authenticated peer.  Each handshake has its own
    thread, so that silent or unauthorised peers do not delay others.
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
            except (OSError, RuntimeError):  # RuntimeError: cannot start a thread
                time.sleep(PAUSE_SECONDS)

    def _handshake(self, caller: socket.socket) -> None:
        connection = _limited(caller)
        try:
            deliver_challenge(connection, self._key)
            answer_challenge(connection, self._key)
            hello = connection.recv()
            _established(connection)
        except Exception:  # a peer without the key may send anything
            connection.close()
            return
        self._accepted(connection, hello)

    def close(self) -> None:
        self._closed = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes `accept`
        self._socket.close()


def connect(address: tuple[str, int], key: bytes) -> Connection:
    """Connect to a Listener, which then expects the first message; raises OSError, EOFError or AuthenticationError."""
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
    """This machine's address on the connection."""
    with socket.socket(fileno=os.dup(connection.fileno())) as s:
        return s.getsockname()[0]


def _limited(s: socket.socket) -> Connection:
    """A connection over the socket with a time limit of HELLO_SECONDS for each message."""
    s.settimeout(None)
    _wait_at_most(s, HELLO_SECONDS)
    return Connection(s.detach())


def _established(connection: Connection) -> None:
    """Remove the time limit; send without delay, and detect peers that vanish without closing."""
    with socket.socket(fileno=os.dup(connection.fileno())) as s:
        _wait_at_most(s, 0.0)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


def _wait_at_most(s: socket.socket, seconds: float) -> None:
    """Set the time limit (0: none) of the socket itself, because Connection uses its descriptor."""
    limit = struct.pack("ll", int(seconds), int(seconds % 1.0 * 1e6))  # C's timeval
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        s.setsockopt(socket.SOL_SOCKET, option, limit)
