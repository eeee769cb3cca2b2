"""Numbers as the contract has them: bit patterns, rounding, and the functions built out of single IEEE operations.

A Python float is a double. One f32 operation is the double operation rounded once more to f32: for + - * / and the
square root of f32 operands the result is the correctly rounded one, because 53 >= 2 * 24 + 2 bits.
"""

import math
import struct

SIZE = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2, "i8": 1, "i16": 2, "i32": 4, "i64": 8,
        "u8": 1, "u16": 2, "u32": 4, "u64": 8, "bool": 1}
# Bits of precision (with the leading one), exponent of the least normal number, bits of the exponent field.
FORMAT = {"f32": (24, -126, 8), "f16": (11, -14, 5), "bf16": (8, -126, 8)}
NAN = math.nan
INF = math.inf


def is_float(dtype):
    return dtype in FORMAT


def encode(dtype, value):
    """Bit pattern of a number, rounded to nearest even. NaN is the quiet one without payload."""
    if not is_float(dtype):
        return int(value) & ((1 << 8 * SIZE[dtype]) - 1)
    precision, least, exponent_bits = FORMAT[dtype]
    fraction_bits = precision - 1
    top = (1 << exponent_bits) - 1
    sign = (1 if math.copysign(1.0, value) < 0 else 0) << (fraction_bits + exponent_bits)
    if math.isnan(value):
        return sign | top << fraction_bits | 1 << (fraction_bits - 1)
    if math.isinf(value):
        return sign | top << fraction_bits
    magnitude = abs(value)
    if magnitude == 0:
        return sign
    exponent = max(math.frexp(magnitude)[1] - 1, least)
    # In units of the last place; round() takes ties to even. A carry walks into the exponent by itself.
    units = round(math.ldexp(magnitude, fraction_bits - exponent))
    pattern = units if exponent == least else units + ((exponent - least) << fraction_bits)
    return sign | min(pattern, top << fraction_bits)


def decode(dtype, pattern):
    """The number of a bit pattern."""
    bits = 8 * SIZE[dtype]
    if dtype == "bool" or dtype[0] == "u":
        return pattern
    if dtype[0] == "i":
        return pattern - (1 << bits) if pattern >> (bits - 1) else pattern
    precision, least, exponent_bits = FORMAT[dtype]
    fraction_bits = precision - 1
    fraction = pattern & ((1 << fraction_bits) - 1)
    exponent = pattern >> fraction_bits & ((1 << exponent_bits) - 1)
    sign = -1.0 if pattern >> (bits - 1) else 1.0
    if exponent == (1 << exponent_bits) - 1:
        return NAN if fraction else sign * INF
    if exponent == 0:
        return sign * math.ldexp(fraction, least - fraction_bits)
    return sign * math.ldexp(fraction | 1 << fraction_bits, exponent - 1 + least - fraction_bits)


def f32(value):
    """Rounds a double to f32."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(INF, value)


def add(a, b):
    return f32(a + b)


def sub(a, b):
    return f32(a - b)


def mul(a, b):
    return f32(a * b)


def div(a, b):
    return f32(a / b)


def sqrt(a):
    return f32(math.sqrt(a))


LOG2E, LN2_HIGH, LN2_LOW = f32(1.44269504), f32(0.693359375), f32(-2.12194440e-4)
EXP_TERMS = [f32(c) for c in (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1,
                              5.0000001201e-1)]


def exp(x):
    """e to the x as the contract defines it: not the nearest f32, but the same one everywhere."""
    if x < -86.0:
        return 0.0
    x = min(x, 88.0)
    whole = float(round(mul(x, LOG2E)))
    r = sub(sub(x, mul(whole, LN2_HIGH)), mul(whole, LN2_LOW))
    p = EXP_TERMS[0]
    for term in EXP_TERMS[1:]:
        p = add(mul(p, r), term)
    p = add(add(mul(p, mul(r, r)), r), 1.0)
    return math.ldexp(p, int(whole))


def sigmoid(x):
    return div(1.0, add(1.0, exp(-x)))


def silu(x):
    return div(x, add(1.0, exp(-x)))


def fold(values, operation, identity):
    """The reduction of the contract: 16 partial results, element i into number i mod 16, folded in halves."""
    partial = [identity] * 16
    for i, value in enumerate(values):
        partial[i % 16] = operation(partial[i % 16], value)
    while len(partial) > 1:
        half = len(partial) // 2
        partial = [operation(partial[j], partial[j + half]) for j in range(half)]
    return partial[0]


def total(values):
    return fold(values, add, 0.0)


def greatest(values):
    return fold(values, lambda a, b: a if a > b else b, -INF)


def dot_in_order(pairs):
    """Sum of products, from +0 in the given order, each product and each sum rounded."""
    result = 0.0
    for a, b in pairs:
        result = add(result, mul(a, b))
    return result


def rms_norm(row, weight, epsilon):
    mean = div(total([mul(x, x) for x in row]), float(len(row)))
    inverse = div(1.0, sqrt(add(mean, epsilon)))
    return [mul(mul(x, inverse), w) for x, w in zip(row, weight)]
