"""Headers that promise more than the file holds: a clip that was cut off by a full disk or a broken download.

libsndfile reads a cut WAV as a shorter one, without a word, and gives the length that a cut FLAC once had. So the
promise and what keeps it are looked up here: the data chunk of a WAV (and RF64 by its ds64 chunk), the last
frame of a FLAC (RFC 9639, section 9: its number, its two checksums), the last page of an Ogg stream (RFC 3533), the
byte count in the Xing header of an MP3.
"""

from __future__ import annotations

import os
import struct
from typing import BinaryIO, NamedTuple

#: How much of the end of a file is searched: more than the largest frame of a FLAC with two channels of 24 bits, in
#: blocks of the usual sizes, and than the largest page of an Ogg stream.
_TAIL = 70_000
#: What a WAV says whose writer could not go back to correct it.
_STREAMED = (0, 0xFFFFFFFF, 0x7FFFFFFF, 0xFFFFFFFF - 36, 0x7FFFFFFF - 36)
#: Less than this is rounding, or what an encoder leaves at the end.
_TOLERANCE = 0.01


class Lost(NamedTuple):
    """Frames that are ``held``, and how many were ``promised``: None where only the end is known to be missing."""

    held: int
    promised: int | None


def missing(file: BinaryIO, size: int, head: bytes, frames: int, rate: int) -> Lost | None:
    """What of a clip of ``frames`` is not there; None where it is whole, or its format promises nothing."""
    if head[:4] in (b"RIFF", b"RF64") and head[8:12] == b"WAVE":
        lost = _wav(file, size, frames)
    elif head[:4] == b"fLaC":
        lost = _flac(file, size, frames)
    elif head[:4] == b"OggS":
        lost = _ogg(file, size, frames)
    else:
        lost = _mp3(head, size, frames)
    if lost is not None and lost.promised is not None and lost.promised - lost.held < _TOLERANCE * rate:
        return None
    return lost


def _wav(file: BinaryIO, size: int, frames: int) -> Lost | None:
    """The length of the data chunk against the rest of the file."""
    file.seek(12)
    align, long_data = 0, None
    while len(header := file.read(8)) == 8:
        kind, length = header[:4], struct.unpack("<I", header[4:])[0]
        start = file.tell()
        if kind == b"fmt " and length >= 16:
            align = struct.unpack("<H", file.read(14)[12:14])[0]
        elif kind == b"ds64" and length >= 16:
            long_data = struct.unpack("<Q", file.read(16)[8:16])[0]
        elif kind == b"data":
            if length in _STREAMED:
                length = long_data
            if length is None or not align or start + length <= size:
                return None
            there = size - start
            if not there or there // align == frames:
                return Lost(frames, length // align)
            # Compressed: as many frames a byte as there are in what is there.
            return Lost(frames, round(frames * length / there))
        file.seek(start + length + length % 2)
    return None


def _flac(file: BinaryIO, size: int, frames: int) -> Lost | None:
    """The last frame that is whole: where it ends, the stream does."""
    if frames <= 0:
        return None
    tail, start = _tail(file, size)
    file.seek(8)
    smallest, largest = struct.unpack(">HH", file.read(4))
    at = len(tail)
    held = 0
    while (at := tail.rfind(b"\xff", 0, at)) >= 0:
        ends = _flac_frame_end(tail[at : at + 20], smallest, frames)
        if ends is None:
            continue
        if ends >= frames and divides(tail[at:]):
            return None
        # The frame that the file ends in is not whole: what is held ends where it begins.
        if ends >= frames and _has_trailer(tail, at):
            return None
        held = max(ends - largest, 0)
        break
    else:
        if start == 0 and size > 42:
            return Lost(0, frames)
        return None
    return Lost(min(held, frames), frames)


def _flac_frame_end(header: bytes, block: int, frames: int) -> int | None:
    """The sample behind the frame that a header begins; None where the bytes are no header."""
    if len(header) < 6 or header[0] != 0xFF or header[1] & 0xFE != 0xF8 or header[3] & 1:
        return None
    size_code, rate_code = header[2] >> 4, header[2] & 15
    if size_code == 0 or rate_code == 15 or header[3] >> 4 > 10:
        return None
    number, used = _utf8(header[4:])
    if number is None:
        return None
    place = 4 + used
    extra = {6: 1, 7: 2}.get(size_code, 0)
    tail = header[place : place + extra]
    place += extra + {12: 1, 13: 2, 14: 2}.get(rate_code, 0)
    if place >= len(header) or _crc8(header[:place]) != header[place]:
        return None
    if size_code == 1:
        own = 192
    elif size_code <= 5:
        own = 576 << (size_code - 2)
    elif extra:
        own = int.from_bytes(tail, "big") + 1
    else:
        own = 256 << (size_code - 8)
    return number + own if header[1] & 1 else number * block + own


def _utf8(data: bytes) -> tuple[int | None, int]:
    """The number that a FLAC frame writes as UTF-8 writes characters, and its bytes."""
    first = data[0]
    if first < 0x80:
        return first, 1
    more = next((n for n in range(1, 7) if first & (0x80 >> (n + 1)) == 0), 0)
    if first & 0x40 == 0 or not more or len(data) <= more or any(byte & 0xC0 != 0x80 for byte in data[1 : more + 1]):
        return None, 0
    number = first & (0x3F >> more)
    for byte in data[1 : more + 1]:
        number = number << 6 | byte & 0x3F
    return number, more + 1


def _has_trailer(tail: bytes, at: int) -> bool:
    """Whether a tag that is often put behind a stream follows: then the frame before it is not the file's end."""
    return tail[-128:-125] == b"TAG" or b"APETAGEX" in tail[at:]


def _ogg(file: BinaryIO, size: int, frames: int) -> Lost | None:
    """A stream whose last page does not say that it is the last, or is not whole."""
    tail, _ = _tail(file, size)
    at = tail.rfind(b"OggS")
    if at < 0 or len(tail) < at + 27:
        return Lost(frames, None) if at >= 0 else None
    segments = tail[at + 26]
    table = tail[at + 27 : at + 27 + segments]
    whole = len(table) == segments and at + 27 + segments + sum(table) <= len(tail)
    if whole and tail[at + 5] & 4:
        return None
    return Lost(frames, None)


def _mp3(head: bytes, size: int, frames: int) -> Lost | None:
    """The bytes that the Xing header counts, against those there are."""
    xing = xing_bytes(head, size)
    if xing is None or xing.counted <= xing.there + 2048:
        return None
    return Lost(int(frames * xing.there / xing.counted), frames)


class Xing(NamedTuple):
    """The bytes of an MP3 without its ID3 tag: as its Xing header counts them, and as many as are there."""

    counted: int
    there: int


def xing_bytes(head: bytes, size: int) -> Xing | None:
    """What the Xing header in the begin of an MP3 of ``size`` bytes counts; None where there is none that does."""
    skip = 0
    if head[:3] == b"ID3" and len(head) > 9:
        skip = 10 + (head[6] << 21 | head[7] << 14 | head[8] << 7 | head[9])
    at = max(head.find(b"Xing"), head.find(b"Info"))
    if not 0 <= at < skip + 200 or len(head) < at + 16:
        return None
    flags, place = struct.unpack(">I", head[at + 4 : at + 8])[0], at + 8
    if flags & 3 != 3:
        return None
    counted = struct.unpack(">I", head[place + 4 : place + 8])[0]
    return Xing(counted, size - skip) if counted else None


def _tail(file: BinaryIO, size: int) -> tuple[bytes, int]:
    start = max(0, size - _TAIL)
    file.seek(start, os.SEEK_SET)
    return file.read(_TAIL), start


def divides(frame: bytes) -> bool:
    """Whether the CRC-16 in the last two bytes of a FLAC frame is that of the bytes before.

    The frame as a polynomial over GF(2) then leaves no rest by x^16 + x^15 + x^2 + 1 = (x + 1)(x^15 + x + 1). The first
    factor is the parity. By the second, x^(15 n) is x^n + 1 for every power of two n: so whole halves of the number are
    folded at once, where a table would take the frame byte by byte.
    """
    rest = int.from_bytes(frame, "big")
    if rest.bit_count() % 2:
        return False
    for power in range(rest.bit_length().bit_length(), -1, -1):
        place = 15 << power
        while high := rest >> place:
            rest = rest & ((1 << place) - 1) ^ high ^ high << (1 << power)
    return rest == 0


def _crc8_table() -> list[int]:
    table = []
    for crc in range(256):
        for _ in range(8):
            crc = (crc << 1 ^ 0x07 if crc & 0x80 else crc << 1) & 0xFF
        table.append(crc)
    return table


_CRC8 = _crc8_table()


def _crc8(data: bytes) -> int:
    crc = 0
    for byte in data:
        crc = _CRC8[crc ^ byte]
    return crc
