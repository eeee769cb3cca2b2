"""Buffers of a case: storage as bit patterns, seen through shape and strides; filled by rule or from a file."""

import math
import struct

import ieee

CODE = {1: "B", 2: "H", 4: "I", 8: "Q"}
MASK = (1 << 64) - 1


def patterns_of(data, dtype):
    size = ieee.SIZE[dtype]
    return list(struct.unpack("<%d%s" % (len(data) // size, CODE[size]), data))


def bytes_of(patterns, dtype):
    return struct.pack("<%d%s" % (len(patterns), CODE[ieee.SIZE[dtype]]), *patterns)


def splitmix64(seed, i):
    z = (seed + (i + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return z ^ z >> 31


def generate(rule, dtype, count):
    """The rules of the harness for generated contents."""
    kind, seed, mask = rule["kind"], rule.get("seed", 0), (1 << 8 * ieee.SIZE[dtype]) - 1
    if kind == "zero":
        return [0] * count
    if kind == "iota":
        return [i & (1 if dtype == "bool" else mask) for i in range(count)]
    draws = [splitmix64(seed, i) for i in range(count)]
    if dtype == "bool":
        return [r & 1 for r in draws]
    if kind == "bits":
        return [r & mask for r in draws]
    low, high = rule["low"], rule["high"]
    if ieee.is_float(dtype):
        return [ieee.encode(dtype, low + (r >> 11) * 2.0**-53 * (high - low)) for r in draws]
    return [ieee.encode(dtype, low + r % (high - low + 1)) for r in draws]


class Tensor:
    """One buffer. `storage` holds bit patterns in memory order; None for an output that is not computed yet."""

    def __init__(self, spec, folder=None):
        self.name, self.role, self.dtype = spec["name"], spec["role"], spec["dtype"]
        self.shape = spec.get("shape", [])
        self.golden = spec.get("golden")
        self.strides = spec.get("strides") or [math.prod(self.shape[a + 1:]) for a in range(len(self.shape))]
        self.count = math.prod(self.shape)
        spans = ((extent - 1) * stride for extent, stride in zip(self.shape, self.strides))
        self.storage_count = 1 + sum(spans) if self.count else 0
        self.storage = None
        if "generate" in spec:
            self.storage = generate(spec["generate"], self.dtype, self.storage_count)
        elif "file" in spec:
            region = spec["file"]
            data = (folder / region["path"]).read_bytes()
            length = self.storage_count * ieee.SIZE[self.dtype]
            if not region.get("packed") and len(data) != length:
                raise ValueError("%s: %d bytes, not %d" % (region["path"], len(data), length))
            start = region.get("offset", 0)
            self.storage = patterns_of(data[start:start + length], self.dtype)

    def offsets(self):
        """Places in the storage of all elements in row-major order."""
        result = [0]
        for extent, stride in zip(self.shape, self.strides):
            result = [base + i * stride for base in result for i in range(extent)]
        return result

    def patterns(self):
        return [self.storage[offset] for offset in self.offsets()]

    def values(self):
        return [ieee.decode(self.dtype, pattern) for pattern in self.patterns()]

    def rows(self):
        """Values cut into rows of the last axis."""
        return cut(self.values(), self.shape[-1])

    def set_patterns(self, patterns):
        if len(patterns) != self.count:
            raise ValueError("%s: %d elements, not %d" % (self.name, len(patterns), self.count))
        if self.count != self.storage_count:
            raise ValueError("%s: an output with gaps has no defined bytes in them" % self.name)
        self.storage = [0] * self.storage_count
        for offset, pattern in zip(self.offsets(), patterns):
            self.storage[offset] = pattern

    def set_values(self, values):
        self.set_patterns([ieee.encode(self.dtype, value) for value in values])

    def to_bytes(self):
        return bytes_of(self.storage, self.dtype)


def cut(values, width):
    return [values[i:i + width] for i in range(0, len(values), width)] if width else []
