# SPDX-License-Identifier: Apache-2.0
"""Thrift's compact protocol, and Parquet footers changed through it.

A struct is ``{field id: [type, value]}``, a list ``[element type, values]``.
"""

import struct

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, _, STRUCT = range(1, 13)
INTEGERS = (I16, I32, I64)
MAGIC = b"PAR1"


class Reader:
    """Reads values from bytes, from a position on."""

    def __init__(self, data, position=0):
        self.data = data
        self.position = position

    def byte(self):
        self.position += 1
        return self.data[self.position - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def take(self, count):
        self.position += count
        return self.data[self.position - count : self.position]

    def value(self, kind):
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind == BYTE:
            return self.byte()
        if kind in INTEGERS:
            return self.zigzag()
        if kind == DOUBLE:
            return struct.unpack("<d", self.take(8))[0]
        if kind == BINARY:
            return self.take(self.varint())
        if kind in (LIST, SET):
            head = self.byte()
            count = head >> 4 if head >> 4 < 15 else self.varint()
            element = head & 0x0F
            if element in (TRUE, FALSE):
                return [element, [self.byte() == TRUE for _ in range(count)]]
            return [element, [self.value(element) for _ in range(count)]]
        assert kind == STRUCT, kind
        return self.struct()

    def struct(self):
        fields, last = {}, 0
        while head := self.byte():
            last = last + (head >> 4) if head >> 4 else self.zigzag()
            kind = head & 0x0F
            fields[last] = [kind, self.value(kind)]
        return fields


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value):
    return varint((value << 1 ^ value >> 63) & (1 << 64) - 1)


def encode_value(kind, value):
    if kind in (TRUE, FALSE):
        return b""
    if kind == BYTE:
        return bytes([value])
    if kind in INTEGERS:
        return zigzag(value)
    if kind == DOUBLE:
        return struct.pack("<d", value)
    if kind == BINARY:
        return varint(len(value)) + value
    if kind in (LIST, SET):
        element, values = value
        count = len(values)
        short = count < 15
        head = bytes([(count if short else 15) << 4 | element])
        if not short:
            head += varint(count)
        if element in (TRUE, FALSE):
            return head + bytes(TRUE if value else FALSE for value in values)
        return head + b"".join(encode_value(element, value) for value in values)
    return encode(value)


def encode(fields):
    """Write a struct."""
    out, last = bytearray(), 0
    for number, (kind, value) in sorted(fields.items()):
        if kind in (TRUE, FALSE):
            kind = TRUE if value else FALSE
        if 0 < number - last < 16:
            out.append(number - last << 4 | kind)
        else:
            out += bytes([kind]) + zigzag(number)
        out += encode_value(kind, value)
        last = number
    return bytes(out) + b"\0"


def integers(value, kind=STRUCT):
    """Give the [type, value] lists of all integers in a struct, with their paths."""
    if kind in (LIST, SET):
        element, values = value
        if element in (LIST, SET, STRUCT):
            for index, one in enumerate(values):
                for path, cell in integers(one, element):
                    yield (index, *path), cell
    elif kind == STRUCT:
        for number, cell in value.items():
            if cell[0] in INTEGERS:
                yield (number,), cell
            for path, inner in integers(cell[1], cell[0]):
                yield (number, *path), inner


def split_file(data):
    """Cut a Parquet file into the bytes before its footer, and the footer."""
    size = int.from_bytes(data[-8:-4], "little")
    return data[: -8 - size], Reader(data[-8 - size : -8]).struct()


def join_file(body, footer):
    """Put a file together again."""
    encoded = encode(footer)
    return body + encoded + len(encoded).to_bytes(4, "little") + MAGIC


def row_groups(footer):
    return footer[4][1][1]


def chunks(group):
    """Give the ColumnMetaData of a row group's columns."""
    return [column[3][1] for column in group[1][1][1]]


def chunk_bytes(data, chunk):
    """Give the bytes of a column chunk, its dictionary included."""
    begin = chunk.get(11, chunk[9])[1]
    return data[begin : begin + chunk[7][1]]
