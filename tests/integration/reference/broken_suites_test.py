#!/usr/bin/env python3
"""`pyptox-ctl suite check` over examples/broken: each file gives the errors that its README has, and no other."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import harness  # noqa: E402

FOLDER = harness.SOURCE / "examples" / "broken"


def table():
    """Lines that the README promises, by file name, in order; none for a file that is whole."""
    promised = {}
    for line in (FOLDER / "README.md").read_text().splitlines():
        if not line.startswith("| `"):
            continue
        name, error, number = (cell.strip() for cell in line.strip("|").split(" |"))
        name = name.strip("`")
        promised.setdefault(name, [])
        if not error.startswith("none: "):
            path, text = error[1:].split("`: ", 1)
            place = "" if number == "-" else f":{int(number)}"
            promised[name].append(f"pyptox-ctl: {FOLDER / name}{place}: {path}: {text}")
    return promised


class BrokenSuites(unittest.TestCase):
    def test_every_file_has_its_row_and_every_row_its_file(self):
        self.assertEqual(sorted(p.name for p in FOLDER.glob("*.yaml")), sorted(table()))

    def test_each_gives_exactly_its_errors(self):
        for name, errors in table().items():
            with self.subTest(name):
                result = harness.run([harness.BIN / "pyptox-ctl", "suite", "check", FOLDER / name])
                self.assertEqual(result.err.splitlines(), errors)
                self.assertEqual(result.status, 65 if errors else 0, result)

    def test_only_the_model_is_whole(self):
        self.assertEqual([name for name, errors in table().items() if not errors], ["valid.yaml"])


if __name__ == "__main__":
    unittest.main()
