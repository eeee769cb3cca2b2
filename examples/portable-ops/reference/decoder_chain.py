"""The decoder chain: its list of buffers, its packed input file, its case file, and what it computes.

24 layers; each mixes along the sequence (norm, projection, causal convolution, gated delta rule, gate) and then works
on each token (norm, gated inner layer), both added to the residual. 371 inputs: tokens, positions and prefix, 320
weights, 48 states. 51 outputs: logits, hidden, the next token, and the 48 states after the last token.
"""

import math

import ieee
from tensor import bytes_of, generate

NAME = "decoder-chain"
PACKED = "inputs/decoder-chain.bin"
PACKED_BYTES = 43200
LAYERS, TOKENS, WIDTH, KEYS, VALUES, TAPS, INNER, VOCABULARY, POSITIONS, PAIRS = 24, 5, 8, 4, 8, 3, 12, 92, 16, 1
CHANNELS = 2 * KEYS + VALUES
EPSILON = 1e-5

# (name, dtype, shape, low, high): contents are uniform over [low, high).
ACTIVATIONS = [
    ("tokens", "i32", [TOKENS], 0, VOCABULARY - 1),
    ("positions", "i32", [TOKENS], 0, POSITIONS - 1),
    ("prefix", "f32", [TOKENS, WIDTH], -0.5, 0.5),
]
GLOBALS = [
    ("embedding", "f32", [VOCABULARY, WIDTH], -1.5, 1.5),
    ("embedding-norm", "f32", [WIDTH], 0.5, 1.5),
    ("entry", "bf16", [WIDTH, WIDTH], -0.75, 0.75),
    ("cosine", "f32", [POSITIONS, PAIRS], -1, 1),
    ("sine", "f32", [POSITIONS, PAIRS], -1, 1),
    ("final-norm", "f32", [WIDTH], 0.5, 1.5),
    ("head", "f32", [WIDTH, VOCABULARY], -1, 1),
    ("head-bias", "f32", [VOCABULARY], -0.25, 0.25),
]
LAYER = [
    ("norm", "bf16", [WIDTH], 0.5, 1.5),
    ("projection", "bf16", [WIDTH, CHANNELS], -0.75, 0.75),
    ("conv", "bf16", [TAPS, CHANNELS], -0.75, 0.75),
    ("beta", "bf16", [WIDTH, 1], -0.75, 0.75),
    ("decay", "bf16", [WIDTH, 1], -0.75, 0.75),
    ("decay-bias", "bf16", [1], -1, 1),
    ("gate", "bf16", [WIDTH, VALUES], -0.75, 0.75),
    ("out-norm", "bf16", [VALUES], 0.5, 1.5),
    ("out", "bf16", [VALUES, WIDTH], -0.5, 0.5),
    ("inner-norm", "bf16", [WIDTH], 0.5, 1.5),
    ("inner-gate", "bf16", [WIDTH, INNER], -0.75, 0.75),
    ("inner-up", "bf16", [WIDTH, INNER], -0.75, 0.75),
    ("inner-down", "bf16", [INNER, WIDTH], -0.5, 0.5),
]
STATES = [
    ("conv-state", "f32", [TAPS - 1, CHANNELS], -0.5, 0.5),
    ("delta-state", "f32", [KEYS, VALUES], -0.5, 0.5),
]
RESULTS = [("logits", "f32", [TOKENS, VOCABULARY]), ("hidden", "bf16", [TOKENS, WIDTH]), ("next", "i32", [TOKENS])]


def per_layer(table):
    return [("layer%02d.%s" % (layer, name), *rest) for layer in range(LAYERS) for name, *rest in table]


def packed_entries():
    return GLOBALS + per_layer(LAYER) + per_layer(STATES)


def length(dtype, shape):
    return math.prod(shape) * ieee.SIZE[dtype]


def packed_file():
    """The file behind 368 of the inputs: a header, the regions back to back, no padding at the end."""
    regions = [bytes_of(generate({"kind": "uniform", "seed": 1000 + i, "low": low, "high": high}, dtype,
                                 math.prod(shape)), dtype)
               for i, (_, dtype, shape, low, high) in enumerate(packed_entries())]
    header = PACKED_BYTES - sum(map(len, regions))
    title = b"portable-ops decoder-chain: 320 weights and 48 states, packed, little-endian\n"
    return title.ljust(header, b"\n") + b"".join(regions)


def line(name, role, dtype, shape, contents):
    return "      - {name: %s, role: %s, dtype: %s, shape: [%s], %s}" % (
        name, role, dtype, ", ".join(map(str, shape)), contents)


def case_file():
    """Text of cases/decoder-chain.yaml."""
    lines = [
        "# Written by reference/make_golden.py; do not edit.",
        "cases:",
        "  - name: " + NAME,
        "    kernel: po_decoder_chain",
        "    params: [{f64: %r}]" % EPSILON,
        "    buffers:",
    ]
    for seed, (name, dtype, shape, low, high) in enumerate(ACTIVATIONS, 901):
        rule = "generate: {kind: uniform, seed: %d, low: %s, high: %s}" % (seed, low, high)
        lines.append(line(name, "in", dtype, shape, rule))
    entries = packed_entries()
    offset = PACKED_BYTES - sum(length(dtype, shape) for _, dtype, shape, *_ in entries)
    for name, dtype, shape, *_ in entries:
        lines.append(line(name, "in", dtype, shape, "file: {path: %s, offset: %d, packed: true}" % (PACKED, offset)))
        offset += length(dtype, shape)
    offset = 0
    for name, dtype, shape, *_ in RESULTS + [("new." + name, *rest) for name, *rest in per_layer(STATES)]:
        region = "golden: {path: golden/%s.bin, offset: %d, packed: true}" % (NAME, offset)
        lines.append(line(name, "out", dtype, shape, region))
        offset += length(dtype, shape)
    return "\n".join(lines) + "\n"


def rope(row, cosine, sine):
    pairs = len(cosine)
    first, second, rest = row[:pairs], row[pairs:2 * pairs], row[2 * pairs:]
    turned = [ieee.sub(ieee.mul(a, c), ieee.mul(b, s)) for a, b, c, s in zip(first, second, cosine, sine)]
    turned += [ieee.add(ieee.mul(b, c), ieee.mul(a, s)) for a, b, c, s in zip(first, second, cosine, sine)]
    return turned + rest


def gated_delta(q, k, v, decay, beta, state):
    """One step on one head; `state` is a list of rows, one for each key. Returns the new state and the output."""
    state = [[ieee.mul(cell, decay) for cell in row] for row in state]
    recalled = [ieee.dot_in_order((row[j], key) for row, key in zip(state, k)) for j in range(len(v))]
    delta = [ieee.mul(ieee.sub(value, old), beta) for value, old in zip(v, recalled)]
    state = [[ieee.add(cell, ieee.mul(d, key)) for cell, d in zip(row, delta)] for row, key in zip(state, k)]
    return state, [ieee.dot_in_order((row[j], query) for row, query in zip(state, q)) for j in range(len(v))]


def times(row, matrix):
    """Row times a matrix given as a list of rows."""
    return [ieee.dot_in_order((a, line[j]) for a, line in zip(row, matrix)) for j in range(len(matrix[0]))]


def plus(a, b):
    return [ieee.add(x, y) for x, y in zip(a, b)]


def unit(row, epsilon):
    inverse = ieee.div(1.0, ieee.sqrt(ieee.add(ieee.total([ieee.mul(x, x) for x in row]), epsilon)))
    return [ieee.mul(x, inverse) for x in row]


def mix(x, weight, state, angle, epsilon):
    h = ieee.rms_norm(x, weight("norm")[0], epsilon)
    window = state["conv-state"] + [times(h, weight("projection"))]
    state["conv-state"] = window[1:]
    u = [ieee.silu(ieee.dot_in_order((row[c], taps[c]) for row, taps in zip(window, weight("conv"))))
         for c in range(CHANNELS)]
    q, k, v = (rope(unit(u[:KEYS], epsilon), *angle), rope(unit(u[KEYS:2 * KEYS], epsilon), *angle), u[2 * KEYS:])
    beta = ieee.sigmoid(times(h, weight("beta"))[0])
    decay = ieee.exp(-ieee.sigmoid(ieee.add(times(h, weight("decay"))[0], weight("decay-bias")[0][0])))
    state["delta-state"], o = gated_delta(q, k, v, decay, beta, state["delta-state"])
    gate = [ieee.silu(g) for g in times(h, weight("gate"))]
    o = [ieee.mul(a, g) for a, g in zip(ieee.rms_norm(o, weight("out-norm")[0], epsilon), gate)]
    return plus(x, times(o, weight("out")))


def feed(x, weight, epsilon):
    h = ieee.rms_norm(x, weight("inner-norm")[0], epsilon)
    gate, up = times(h, weight("inner-gate")), times(h, weight("inner-up"))
    return plus(x, times([ieee.mul(ieee.silu(g), u) for g, u in zip(gate, up)], weight("inner-down")))


def run(buffers, params):
    named = {buffer.name: buffer for buffer in buffers}
    epsilon = ieee.f32(params[0])
    matrix = {name: buffer.rows() for name, buffer in named.items() if buffer.storage is not None}
    states = [{name: matrix["layer%02d.%s" % (layer, name)] for name, *_ in STATES} for layer in range(LAYERS)]
    logits, hidden, following = [], [], []
    for token, position, prefix in zip(named["tokens"].values(), named["positions"].values(), matrix["prefix"]):
        x = ieee.rms_norm(plus(matrix["embedding"][token], prefix), matrix["embedding-norm"][0], epsilon)
        x = times(x, matrix["entry"])
        angle = matrix["cosine"][position], matrix["sine"][position]
        for layer in range(LAYERS):
            weight = lambda name: matrix["layer%02d.%s" % (layer, name)]
            x = mix(x, weight, states[layer], angle, epsilon)
            x = feed(x, weight, epsilon)
        x = ieee.rms_norm(x, matrix["final-norm"][0], epsilon)
        hidden += x
        logits.append(plus(times(x, matrix["head"]), matrix["head-bias"][0]))
        following.append(max(range(VOCABULARY), key=lambda i: (logits[-1][i], -i)))
    named["logits"].set_values([y for row in logits for y in row])
    named["hidden"].set_values(hidden)
    named["next"].set_values(following)
    for layer, state in enumerate(states):
        for name, *_ in STATES:
            named["new.layer%02d.%s" % (layer, name)].set_values([y for row in state[name] for y in row])
