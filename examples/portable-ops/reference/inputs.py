"""The input files that no rule can make."""

import itertools

import decoder_chain
from tensor import bytes_of


def around_ties():
    """f32 patterns that are hard to narrow: every class of number, and the neighbours of ties between bf16 and f16
    values."""
    tops = [0x0000, 0x0001, 0x0040, 0x007f, 0x0080, 0x0081, 0x3300, 0x3380, 0x3381, 0x3780, 0x387f, 0x3880, 0x3f80,
            0x3f81, 0x3fff, 0x4000, 0x477f, 0x4780, 0x7f00, 0x7f7e, 0x7f7f, 0x7f80, 0x7f81, 0x7fbf, 0x7fc0, 0x7fff]
    lows = [0x0000, 0x0001, 0x0fff, 0x1000, 0x1001, 0x2fff, 0x3000, 0x3001, 0x7fff, 0x8000, 0x8001, 0xdfff, 0xe000,
            0xefff, 0xf000, 0xf001, 0xffff]
    signs = [0x0000, 0x8000]
    return [(sign | top) << 16 | low for sign, top, low in itertools.product(signs, tops, lows)]


def around_integers():
    """f32 patterns around the ends of the integer types, with infinities and NaN."""
    magnitudes = [0x00000000, 0x00000001, 0x3effffff, 0x3f000000, 0x3f7fffff, 0x3f800000, 0x3fffffff, 0x42fdffff,
                  0x42fe0000, 0x42ffffff, 0x43000000, 0x43007fff, 0x43008000, 0x43010000, 0x437eff00, 0x437f0000,
                  0x437fffff, 0x43800000, 0x4b7fffff, 0x4b800000, 0x4effffff, 0x4f000000, 0x4f7fffff, 0x4f800000,
                  0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff]
    return [sign | magnitude for sign in (0, 0x80000000) for magnitude in magnitudes]


def specials():
    """Pairs of f32 patterns whose comparisons are easy to get wrong: NaN, infinities, zeros of both signs."""
    values = [0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
              0x7fc00000, 0xffc00000, 0x7f800001]
    pairs = list(itertools.product(values, values))
    return [a for a, _ in pairs], [b for _, b in pairs]


def all_files():
    left, right = specials()
    return {
        "inputs/ties.f32.bin": bytes_of(around_ties(), "f32"),
        "inputs/integer-limits.f32.bin": bytes_of(around_integers(), "f32"),
        "inputs/specials-left.f32.bin": bytes_of(left, "f32"),
        "inputs/specials-right.f32.bin": bytes_of(right, "f32"),
        "inputs/specials-left.bf16.bin": bytes_of([a >> 16 for a in left], "bf16"),
        "inputs/specials-right.bf16.bin": bytes_of([b >> 16 for b in right], "bf16"),
        "inputs/indices-past-end.i32.bin": bytes_of([0, 3, 10, 11, 2], "i32"),
        "inputs/indices-negative.i64.bin": bytes_of([4, 0, 2**64 - 1], "i64"),
        decoder_chain.PACKED: decoder_chain.packed_file(),
    }
