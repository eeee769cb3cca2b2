"""Reads the cases of a suite file. The rest of the file is not looked at.

Only the form that the suite is written in is known: a top-level key `cases:` whose items have one line per key, each
value in flow style.
"""

import re

TOKEN = re.compile(r'\s*([{}\[\],]|"[^"]*"|[^\s{}\[\],:"][^{}\[\],:"]*?(?=\s*[,}\]]|:\s|\s*$)|:\s)')
NUMBER = re.compile(r"-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$")


def scalar(text):
    if text.startswith('"'):
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    if NUMBER.match(text):
        return float(text) if re.search(r"[.eE]", text) else int(text)
    return text


class Flow:
    """Parser of one value in flow style."""

    def __init__(self, text):
        self.tokens, at = [], 0
        while text[at:].strip():
            match = TOKEN.match(text, at)
            if not match:
                raise ValueError("cannot read %r" % text[at:])
            self.tokens.append(match.group(1).strip())
            at = match.end()

    def take(self):
        return self.tokens.pop(0)

    def value(self):
        token = self.take()
        if token == "[":
            return self.items("]", self.value)
        if token == "{":
            return dict(self.items("}", self.pair))
        return scalar(token)

    def pair(self):
        key = self.take()
        if self.take() != ":":
            raise ValueError("no ':' behind %r" % key)
        return key, self.value()

    def items(self, end, item):
        result = []
        while self.tokens[0] != end:
            result.append(item())
            if self.tokens[0] == ",":
                self.take()
        self.take()
        return result


def read_flow(text):
    flow = Flow(text)
    value = flow.value()
    if flow.tokens:
        raise ValueError("more than one value in %r" % text)
    return value


def read_cases(path):
    cases, inside = [], False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not line.startswith(" "):
            inside = line.strip() == "cases:"
            continue
        if not inside:
            continue
        try:
            read_line(cases, line)
        except (ValueError, IndexError, KeyError) as error:
            raise SystemExit("%s:%d: %s" % (path, number, error))
    return cases


def read_line(cases, line):
    if line.startswith("      - "):
        cases[-1]["buffers"].append(read_flow(line[8:]))
        return
    match = re.match(r"  (- |  )(\w+):\s*(.*)$", line)
    if not match:
        raise ValueError("not a line of a case")
    if match.group(1) == "- ":
        cases.append({})
    key, text = match.group(2), match.group(3)
    cases[-1][key] = read_flow(text) if text else []
