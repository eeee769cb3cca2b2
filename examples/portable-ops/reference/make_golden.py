#!/usr/bin/env python3
"""Writes what the suite compares with: inputs/, cases/decoder-chain.yaml, golden/ and golden.sha256.

    make_golden.py           writes all files and removes golden files that no case names
    make_golden.py --check   writes nothing; exit 1 and a line for each file that is missing, different or left over

Needs nothing but Python 3.8. It shares no code with the kernels: they meet in the contract (README.md) only.
"""

import hashlib
import pathlib
import re
import sys

import decoder_chain
import inputs
import operations
from cases import read_cases
from tensor import Tensor

SUITE = pathlib.Path(__file__).resolve().parent.parent
CASE_LIST = "cases/%s.yaml" % decoder_chain.NAME
LOCK = "golden.sha256"


class Output:
    """Takes files by name: writes them, or compares them with those that stand there."""

    def __init__(self, check):
        self.check, self.complaints = check, []

    def complain(self, text):
        self.complaints.append(text)

    def put(self, name, data):
        path = SUITE / name
        if self.check:
            if not path.is_file():
                self.complain("%s: missing" % name)
            elif path.read_bytes() != data:
                self.complain("%s: differs from the reference" % name)
            return
        path.parent.mkdir(exist_ok=True)
        if not path.is_file() or path.read_bytes() != data:
            path.write_bytes(data)

    def keep_only(self, folder, names):
        for path in sorted((SUITE / folder).iterdir()):
            name = "%s/%s" % (folder, path.name)
            if name in names:
                continue
            if self.check:
                self.complain("%s: no case names it" % name)
            else:
                path.unlink()


def compute(case):
    """The buffers of a case after the kernel, or its refusal code."""
    buffers = [Tensor(spec, SUITE) for spec in case["buffers"]]
    params = [next(iter(param.values())) for param in case.get("params", [])]
    try:
        operations.KERNELS[case["kernel"]](buffers, params)
    except operations.Refused as refused:
        return buffers, refused.code
    return buffers, 0


def golden_of(case, output, files):
    """Adds the golden bytes of a case to `files`, a map of name to bytearray."""
    buffers, status = compute(case)
    if status != case.get("expect_status", 0):
        output.complain("%s: the reference answers %d" % (case["name"], status))
    if status:
        return
    for buffer in buffers:
        if buffer.role == "in":
            continue
        region = buffer.golden
        content = files.setdefault(region["path"], bytearray())
        if len(content) != region.get("offset", 0):
            output.complain("%s.%s: golden region is not behind the one before it" % (case["name"], buffer.name))
        content += buffer.to_bytes()


def check_plan(cases, output):
    names = [case["name"] for case in cases]
    for name in sorted({name for name in names if names.count(name) > 1}):
        output.complain("suite.yaml: case %s is there twice" % name)
    planned = re.search(r"^planned: (\d+)$", (SUITE / "suite.yaml").read_text(encoding="utf-8"), re.MULTILINE)
    if not planned or int(planned.group(1)) != len(cases):
        output.complain("suite.yaml: %d cases are there, planned says otherwise" % len(cases))


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__.strip(), file=sys.stderr)
        return 64
    output = Output(check=bool(arguments))
    input_files = inputs.all_files()
    for name, data in input_files.items():
        output.put(name, data)
    output.keep_only("inputs", input_files)
    output.put(CASE_LIST, decoder_chain.case_file().encode())
    if output.complaints:
        print("\n".join(output.complaints))
        return 1
    cases = read_cases(SUITE / "suite.yaml") + read_cases(SUITE / CASE_LIST)
    check_plan(cases, output)
    files = {}
    for case in cases:
        golden_of(case, output, files)
    for name, data in files.items():
        output.put(name, bytes(data))
    output.keep_only("golden", files)
    lock = "".join("%s  %s\n" % (hashlib.sha256(files[name]).hexdigest(), name) for name in sorted(files))
    output.put(LOCK, lock.encode())
    print("\n".join(output.complaints) or "%d cases, %d golden files" % (len(cases), len(files)))
    return 1 if output.complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
