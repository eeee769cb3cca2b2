"""Every kernel of the suite, computed from its definition. A function gets the buffers and the parameters in the order
of the case, fills the outputs, and raises Refused where the contract refuses."""

import math

import decoder_chain
import ieee
from tensor import cut

ARGUMENT, INDEX = 1, 2


class Refused(Exception):
    """The kernel refuses its input with this code."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


def elementwise(function):
    def run(buffers, params):
        *inputs, out = buffers
        if any(buffer.shape != out.shape for buffer in inputs):
            raise Refused(ARGUMENT)
        out.set_values([function(*row) for row in zip(*(buffer.values() for buffer in inputs))])
    return run


def cast_one(source, target, pattern):
    value = ieee.decode(source, pattern)
    if isinstance(value, float) and math.isnan(value):
        if not ieee.is_float(target):
            return 0
        return cast_nan(source, target, pattern)
    if ieee.is_float(target):
        return ieee.encode(target, ieee.f32(value))
    bits = 8 * ieee.SIZE[target]
    low, high = (0, 2**bits - 1) if target[0] == "u" else (-2**(bits - 1), 2**(bits - 1) - 1)
    if value in (math.inf, -math.inf):
        return ieee.encode(target, high if value > 0 else low)
    return ieee.encode(target, min(max(math.trunc(value), low), high))


def cast_nan(source, target, pattern):
    """Sign and leading payload stay; a NaN is made quiet unless its f32 pattern is the old one with zeros appended."""
    source_fraction, target_fraction = ieee.FORMAT[source][0] - 1, ieee.FORMAT[target][0] - 1
    sign = pattern >> (8 * ieee.SIZE[source] - 1)
    payload = pattern & ((1 << source_fraction) - 1)
    shift = target_fraction - source_fraction
    payload = payload << shift if shift >= 0 else payload >> -shift
    if target != "f32" or source == "f16":
        payload |= 1 << (target_fraction - 1)
    exponent = (1 << ieee.FORMAT[target][2]) - 1
    return sign << (8 * ieee.SIZE[target] - 1) | exponent << target_fraction | payload


def cast(buffers, params):
    source, target = buffers
    target.set_patterns([cast_one(source.dtype, target.dtype, pattern) for pattern in source.patterns()])


def reduction(function):
    def run(buffers, params):
        source, out = buffers
        first, count = params
        inner = math.prod(source.shape[first + count:])
        length = math.prod(source.shape[first:first + count])
        outer = math.prod(source.shape[:first])
        values = source.values()
        out.set_values([function([values[(o * length + i) * inner + j] for i in range(length)])
                        for o in range(outer) for j in range(inner)])
    return run


def mean(values):
    if not values:
        raise Refused(ARGUMENT)
    return ieee.div(ieee.total(values), ieee.f32(float(len(values))))


def matmul(buffers, params):
    a, b, out = buffers
    m, n, depth = out.shape[-2], out.shape[-1], a.shape[-1]
    if a.shape[:-1] != out.shape[:-1] or b.shape != out.shape[:-2] + [depth, n]:
        raise Refused(ARGUMENT)
    left, right, result = a.values(), b.values(), []
    for batch in range(math.prod(out.shape[:-2])):
        for i in range(m):
            row = left[(batch * m + i) * depth:][:depth]
            for j in range(n):
                column = [right[(batch * depth + k) * n + j] for k in range(depth)]
                result.append(ieee.dot_in_order(zip(row, column)))
    out.set_values(result)


def indexes(shape):
    """All multi-indices in row-major order."""
    result = [()]
    for extent in shape:
        result = [index + (i,) for index in result for i in range(extent)]
    return result


def by_index(buffer):
    return dict(zip(indexes(buffer.shape), buffer.patterns()))


def transpose(buffers, params):
    source, out = buffers
    elements = by_index(source)
    place = [params.index(axis) for axis in range(len(params))]
    out.set_patterns([elements[tuple(index[p] for p in place)] for index in indexes(out.shape)])


def slice_(buffers, params):
    source, out = buffers
    rank = len(out.shape)
    starts, steps, elements = params[:rank], params[rank:], by_index(source)
    out.set_patterns([elements[tuple(s + i * step for s, i, step in zip(starts, index, steps))]
                      for index in indexes(out.shape)])


def split(buffers, params):
    source, *parts = buffers
    axis, elements, start = params[0], by_index(source), 0
    for part in parts:
        out = [elements[index[:axis] + (index[axis] + start,) + index[axis + 1:]] for index in indexes(part.shape)]
        part.set_patterns(out)
        start += part.shape[axis]


def concat(buffers, params):
    *parts, out = buffers
    axis, elements, start = params[0], {}, 0
    for part in parts:
        for index, pattern in by_index(part).items():
            elements[index[:axis] + (index[axis] + start,) + index[axis + 1:]] = pattern
        start += part.shape[axis]
    out.set_patterns([elements[index] for index in indexes(out.shape)])


def gather(buffers, params):
    table, chosen, out = buffers
    axis, elements, choice = params[0], by_index(table), by_index(chosen)
    if any(not 0 <= value < table.shape[axis] for value in chosen.values()):
        raise Refused(INDEX)
    last = axis + len(chosen.shape)
    out.set_patterns([elements[index[:axis] + (choice[index[axis:last]],) + index[last:]]
                      for index in indexes(out.shape)])


def embedding(buffers, params):
    gather(buffers, [0])


def where(buffers, params):
    condition, a, b, out = buffers
    out.set_patterns([x if c else y for c, x, y in zip(condition.patterns(), a.patterns(), b.patterns())])


def softmax(buffers, params):
    source, out = buffers
    result = []
    for row in source.rows():
        top = ieee.greatest(row)
        powers = [ieee.exp(ieee.sub(x, top)) for x in row]
        whole = ieee.total(powers)
        result += [ieee.div(p, whole) for p in powers]
    out.set_values(result)


def rms_norm(buffers, params):
    source, weight, out = buffers
    out.set_values([y for row in source.rows() for y in ieee.rms_norm(row, weight.values(), ieee.f32(params[0]))])


def rope(buffers, params):
    source, cosine, sine, out = buffers
    heads, width = source.shape[1:]
    result = []
    for position, row in enumerate(source.rows()):
        angle = position // heads
        result += decoder_chain.rope(row, cosine.rows()[angle], sine.rows()[angle])
    out.set_values(result)


def conv1d(buffers, params):
    source, weight, state, out = buffers
    taps, channels = weight.shape
    before = cut(state.values(), channels) if taps > 1 else []
    history, kernel, result = before + source.rows(), weight.rows(), []
    for t in range(source.shape[0]):
        result += [ieee.dot_in_order((history[t + k][c], kernel[k][c]) for k in range(taps)) for c in range(channels)]
    out.set_values(result)
    state.set_values([x for row in history[len(history) - (taps - 1):] for x in row])


def gated_delta(buffers, params):
    q, k, v, gate, beta, state, out = buffers
    tokens, heads, values = v.shape
    keys = q.shape[2]
    memory = [cut(head, values) for head in cut(state.values(), keys * values)]
    result = []
    for t in range(tokens):
        for h in range(heads):
            at = t * heads + h
            memory[h], row = decoder_chain.gated_delta(q.rows()[at], k.rows()[at], v.rows()[at],
                                                       ieee.exp(gate.values()[at]), beta.values()[at], memory[h])
            result += row
    out.set_values(result)
    state.set_values([x for head in memory for row in head for x in row])


KERNELS = {
    "po_add": elementwise(ieee.add),
    "po_sub": elementwise(ieee.sub),
    "po_mul": elementwise(ieee.mul),
    "po_div": elementwise(ieee.div),
    "po_exp": elementwise(ieee.exp),
    "po_sigmoid": elementwise(ieee.sigmoid),
    "po_silu": elementwise(ieee.silu),
    "po_cast": cast,
    "po_sum": reduction(ieee.total),
    "po_max": reduction(ieee.greatest),
    "po_mean": reduction(mean),
    "po_matmul": matmul,
    "po_transpose": transpose,
    "po_slice": slice_,
    "po_split": split,
    "po_concat": concat,
    "po_gather": gather,
    "po_embedding": embedding,
    "po_equal": elementwise(lambda a, b: a == b),
    "po_less": elementwise(lambda a, b: a < b),
    "po_less_equal": elementwise(lambda a, b: a <= b),
    "po_where": where,
    "po_softmax": softmax,
    "po_rms_norm": rms_norm,
    "po_rope": rope,
    "po_conv1d": conv1d,
    "po_gated_delta": gated_delta,
    "po_decoder_chain": decoder_chain.run,
}
