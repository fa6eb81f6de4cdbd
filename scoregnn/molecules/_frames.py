"""Messages between the parent and its own workers: eight bytes of length, then a pickle."""

from __future__ import annotations

import os
import pickle
import struct
from collections.abc import Iterator
from typing import Any

_LENGTH = struct.Struct("<Q")
_READ_SIZE = 1 << 16


def write_message(descriptor: int, message: object) -> None:
    """Write one message whole; raises `OSError` when nobody reads any more."""
    payload = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    rest = memoryview(_LENGTH.pack(len(payload)) + payload)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def read_messages(descriptor: int) -> Iterator[Any]:
    """Messages until the other end is closed; a message cut off by the end is dropped."""
    buffer = bytearray()
    while True:
        while len(buffer) >= _LENGTH.size:
            end = _LENGTH.size + _LENGTH.unpack_from(buffer)[0]
            if len(buffer) < end:
                break
            message = pickle.loads(memoryview(buffer)[_LENGTH.size : end].toreadonly())
            del buffer[:end]
            yield message
        chunk = os.read(descriptor, _READ_SIZE)
        if not chunk:
            return
        buffer += chunk
