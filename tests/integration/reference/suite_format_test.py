#!/usr/bin/env python3
"""docs/suite-format.md: its suite runs and passes, and its tables have the fields of the proto, all and no others."""

import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import harness  # noqa: E402

PAGE = (harness.SOURCE / "docs" / "suite-format.md").read_text()
CPU_FLAGS = pathlib.Path("/proc/cpuinfo").read_text().split()


def page_tables():
    """By heading of one type: the rows under it as lists of cells, the first one without its quotes."""
    tables = {}
    for heading, text in re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL):
        rows = [re.split(r"\s*\|\s*", line.strip("| ")) for line in text.splitlines() if line.startswith("| `")]
        tables[heading] = [[row[0].strip("`"), *row[1:]] for row in rows]
    return tables


def proto_types():
    """(messages, enums) of the house's proto files: by name, messages as (field, type, required), enums as words."""
    messages, enums = {}, {}
    for path in sorted((harness.SOURCE / "proto" / "pyptox" / "v1").glob("*.proto")):
        text = re.sub(r"//.*", "", path.read_text())
        for name, body in re.findall(r"^message (\w+) \{(\}|.*?^\})", text, re.MULTILINE | re.DOTALL):
            messages[name] = []
            for repeated, kind, field, options in re.findall(
                    r"(repeated\s+)?([\w.]+)\s+(\w+)\s*=\s*\d+\s*(\[[^\]]*\])?\s*;", body):
                kind = "text" if kind == "string" else kind
                messages[name].append((field, f"list of {kind}" if repeated else kind, "(required) = true" in options))
        for name, body in re.findall(r"^enum (\w+) \{(.*?)^\}", text, re.MULTILINE | re.DOTALL):
            zero, *values = re.findall(r"(\w+)\s*=\s*\d+\s*;", body)
            prefix = zero.removesuffix("UNSPECIFIED")
            enums[name] = [value.removeprefix(prefix).lower() for value in values]
    return messages, enums


def reachable(messages, enums):
    """Names of the messages and enums that a suite and its case files are made of."""
    found, open_ = set(), ["Suite", "CaseList"]
    while open_:
        name = open_.pop()
        if name not in found:
            found.add(name)
            kinds = [kind.removeprefix("list of ") for _, kind, _ in messages.get(name, [])]
            open_ += [kind for kind in kinds if kind in messages or kind in enums]
    return found


class Tables(unittest.TestCase):
    def setUp(self):
        self.messages, self.enums = proto_types()
        self.tables = page_tables()

    def test_every_type_has_its_table_and_every_table_its_type(self):
        self.assertEqual(sorted(self.tables), sorted(reachable(self.messages, self.enums)))

    def test_a_message_has_exactly_its_fields_with_their_types(self):
        for name in sorted(self.tables.keys() & self.messages.keys()):
            with self.subTest(name):
                rows = [(row[0], row[1], row[2] == "required") for row in self.tables[name]]
                self.assertEqual(rows, self.messages[name])

    def test_an_enum_has_exactly_its_words(self):
        for name in sorted(self.tables.keys() & self.enums.keys()):
            with self.subTest(name):
                self.assertEqual([row[0] for row in self.tables[name]], self.enums[name])

    def test_the_targets_are_those_that_a_lane_may_name(self):
        code = (harness.SOURCE / "matrix" / "lane_check.cc").read_text()
        words = re.findall(r'"([^"]+)"', re.search(r"kTargets\[\] = \{(.*?)\};", code, re.DOTALL).group(1))
        rows = re.search(r"^\| target \|[^\n]*\n\|[-|]+\|\n((?:\|[^\n]*\n)+)", PAGE, re.MULTILINE).group(1)
        named = [word for row in rows.splitlines() for word in row.split("|")[1].strip().split(", ")]
        self.assertEqual(sorted(named), sorted(words))

    def test_the_cpu_flags_of_a_target_are_those_that_its_backend_asks_for(self):
        code = (harness.SOURCE / "backends" / "api" / "target.cc").read_text()
        for name, flags in re.findall(r'\{"([\w-]+)", "x86_64", \{([^}]*)\}\}', code):
            with self.subTest(name):
                row = re.search(rf"^\| {re.escape(name)} \| (.*) \|$", PAGE, re.MULTILINE).group(1)
                self.assertEqual(re.findall(r"\b(?:avx|f16c)\w*", row), re.findall(r'"(\w+)"', flags))


class WholeSuite(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory(prefix="pyptox-page.")
        self.addCleanup(home.cleanup)
        self.env = {"PYPTOX_DATA": f"{home.name}/data"}
        self.folder = pathlib.Path(home.name) / "suite"
        harness.page_suite(self.folder)

    def ctl(self, *argv):
        return harness.run([harness.BIN / "pyptox-ctl", *argv, self.folder / "suite.yaml"], env=self.env)

    def test_it_is_checked_and_passes(self):
        pinned = self.ctl("suite", "pin")
        self.assertEqual(pinned.status, 0, pinned)
        checked = self.ctl("--output", "json", "suite", "check")
        self.assertEqual(checked.status, 0, checked)
        self.assertEqual((checked.json()["suite"]["lanes"], checked.json()["suite"]["cases"]), (2, 3))
        harness.commit(self.folder)

        # Without AVX2 the second lane is blocked, which proves nothing about the page.
        has_avx2 = "avx2" in CPU_FLAGS and "f16c" in CPU_FLAGS
        lanes = ["cpu-scalar@dev", "x86-avx2@dev"] if has_avx2 else ["cpu-scalar@dev"]
        ran = self.ctl("--output", "json", "run", *(f"--lane={lane}" for lane in lanes))
        self.assertEqual(ran.status, 0, ran)
        cells = {cell["lane"]: cell for cell in ran.json()["cells"]}
        self.assertEqual(sorted(cells), lanes)
        for cell in cells.values():
            # Limited where the kernel of this machine forbids ptrace.
            self.assertIn(cell["standing"], ("PASS", "PASS (limited)"))
            self.assertEqual((cell["counts"]["planned"], cell["counts"]["passed"]), (3, 3), cell)


if __name__ == "__main__":
    unittest.main()
