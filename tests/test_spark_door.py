"""The door through which tasks come to the driver: who has the key comes in, whoever else calls."""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
from multiprocessing import AuthenticationError

import pytest

from svmtool.spark import door

KEY = b"k" * 32


@pytest.fixture
def opened():
    """A door on loopback: its address, and a queue of those who came in with what they said first."""
    came: queue.Queue = queue.Queue()
    with contextlib.closing(door.Door("127.0.0.1", KEY, lambda *caller: came.put(caller))) as opened:
        yield ("127.0.0.1", opened.port), came


def enters(address, came, after: float = 0.0) -> None:
    """Come in with the key and be answered, so many seconds later."""
    mine = door.knock(address, KEY)
    mine.send("hello")
    theirs, hello = came.get(timeout=10)
    assert hello == "hello"
    threading.Timer(after, theirs.send, ["welcome"]).start()
    with mine, theirs:
        assert mine.recv() == "welcome"


GARBAGE = {
    "silence": b"",
    "a browser": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "a message without end": b"\x7f\xff\xff\xff",
    "a long message": b"\x00\x00\x01\x00" + b"x" * 256,
    "an empty message": b"\x00\x00\x00\x00",
    "half a header": b"\x00\x00",
}


@pytest.mark.parametrize("what", GARBAGE)
def test_strangers_hold_up_nobody(what, opened):
    address, came = opened
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            stranger = stack.enter_context(socket.create_connection(address))
            stranger.sendall(GARBAGE[what])
        enters(address, came)
    enters(address, came)
    assert came.empty()


def test_strangers_who_say_nothing_are_sent_away(opened, monkeypatch):
    address, came = opened
    monkeypatch.setattr(door, "HELLO_SECONDS", 0.3)
    with socket.create_connection(address, 10) as stranger:
        while stranger.recv(100):  # its challenge, and then the end
            continue
    enters(address, came, after=1.0)  # the limit ends with the handshake


def test_a_caller_with_another_key_stays_outside(opened):
    address, came = opened
    with pytest.raises((AuthenticationError, EOFError, OSError)):
        door.knock(address, b"l" * 32)
    enters(address, came)
    assert came.empty()


def test_a_door_that_does_not_answer_is_left(monkeypatch):
    monkeypatch.setattr(door, "HELLO_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as mute, pytest.raises(OSError):
        door.knock(mute.getsockname(), KEY)


def test_a_closed_door_is_no_port_any_more():
    opened = door.Door("127.0.0.1", KEY, lambda *_: None)
    opened.close()
    with pytest.raises(OSError):
        door.knock(("127.0.0.1", opened.port), KEY)
