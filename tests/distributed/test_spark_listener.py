"""Connections between driver and tasks: only those with the key are accepted; and the message without pyspark."""

from __future__ import annotations

import contextlib
import importlib
import queue
import socket
import sys
import threading
from multiprocessing import AuthenticationError

import pytest

from svmtool.distributed import listener

KEY = b"k" * 32


@pytest.fixture
def opened():
    """A listener on loopback: its address, and a queue of accepted connections with their first messages."""
    came: queue.Queue = queue.Queue()
    with contextlib.closing(listener.Listener("127.0.0.1", KEY, lambda *caller: came.put(caller))) as opened:
        yield ("127.0.0.1", opened.port), came


def connects(address, came, after: float = 0.0) -> None:
    """Connect with the key, and assert an answer within so many seconds."""
    mine = listener.connect(address, KEY)
    mine.send("hello")
    theirs, hello = came.get(timeout=10)
    assert hello == "hello"
    threading.Timer(after, theirs.send, ["welcome"]).start()
    with mine, theirs:
        assert mine.recv() == "welcome"


GARBAGE = {
    "silence": b"", "a browser": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "a message without end": b"\x7f\xff\xff\xff",
    "an empty message": b"\x00\x00\x00\x00",
}  # fmt: skip


@pytest.mark.parametrize("what", GARBAGE)
def test_connections_without_the_key_delay_nobody(what, opened):
    address, came = opened
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            stranger = stack.enter_context(socket.create_connection(address))
            stranger.sendall(GARBAGE[what])
        connects(address, came)
    connects(address, came)
    assert came.empty()


def test_silent_connections_are_closed(opened, monkeypatch):
    address, came = opened
    monkeypatch.setattr(listener, "HELLO_SECONDS", 0.2)
    with socket.create_connection(address, 10) as stranger:
        while stranger.recv(100):  # its challenge, and then the end
            continue
    connects(address, came, after=0.5)  # the limit ends with the handshake


def test_another_key_is_refused(opened):
    address, came = opened
    with pytest.raises((AuthenticationError, EOFError, OSError)):
        listener.connect(address, b"l" * 32)
    connects(address, came)
    assert came.empty()


def test_without_pyspark_the_import_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "svmtool.spark", raising=False)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(ImportError, match=r"pip install 'svmtool\[spark\]'"):
        importlib.import_module("svmtool.spark")
