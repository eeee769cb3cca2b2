#!/usr/bin/env python3
"""One flipped bit in a golden file: exactly that case FAILs, with the index and both hex values, and exit status 1.

All golden files of the example suite are covered: first one at a time for a few of them (the seed is printed), then a
different bit of every file at once, so that each file is seen to matter.
"""

import os
import pathlib
import random
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import harness  # noqa: E402

SUITE = harness.SOURCE / "examples" / "portable-ops"
LANE = "cpu-scalar@dev"
SINGLES = 3


def flip(path, bit):
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << (bit % 8)
    path.write_bytes(data)
    return bit // 8


def golden_files(folder):
    return sorted(p for p in (folder / "golden").rglob("*") if p.is_file() and p.stat().st_size > 0)


class FlippedBit(unittest.TestCase):
    def setUp(self):
        self.seed = int(os.environ.get("PYPTOX_SEED", random.SystemRandom().randrange(1 << 32)))
        print(f"seed {self.seed} (PYPTOX_SEED replays)")
        self.random = random.Random(self.seed)
        self.folder = tempfile.TemporaryDirectory(prefix="pyptox-flip.")
        self.suite = harness.committed_copy(SUITE, pathlib.Path(self.folder.name) / "suite")

    def tearDown(self):
        self.folder.cleanup()

    def submit(self, house):
        result = house.ctl("submit", "--wait", "--lane", LANE, self.suite / "suite.yaml")
        record = house.ctl_json("record", "list", "--limit", "1")["records"][0]
        return result, record

    def failed(self, record):
        return {c["name"]: c for c in record["evidence"]["cases"]
                if c["outcome"] not in ("CASE_OUTCOME_PASS", "CASE_OUTCOME_SKIPPED")}

    def test_one_bit_fails_one_case(self):
        with harness.House() as house:
            house.start_controller()
            house.start_agent()
            result, record = self.submit(house)
            self.assertEqual(result.status, 0, result)
            planned = int(record["counts"]["planned"])
            for path in self.random.sample(golden_files(self.suite), SINGLES):
                before = path.read_bytes()
                byte = flip(path, self.random.randrange(8 * len(before)))
                result, record = self.submit(house)
                self.assertEqual(result.status, 1, result)
                failed = self.failed(record)
                self.assertEqual(len(failed), 1, f"{path.name} byte {byte}: {sorted(failed)}")
                self.assertEqual(int(record["counts"]["passed"]), planned - 1)
                (name, case), = failed.items()
                difference = [o["comparison"] for o in case["launch"]["outputs"] if "first" in o.get("comparison", {})]
                self.assertEqual(len(difference), 1, name)
                self.assertEqual(int(difference[0]["different"]), 1)
                first = difference[0]["first"]
                self.assertNotEqual(first["expected_hex"], first["actual_hex"])
                for text in (name, first["expected_hex"], first["actual_hex"]):
                    self.assertIn(text, result.out)
                path.write_bytes(before)

    def test_every_golden_file_matters(self):
        with harness.House() as house:
            house.start_controller()
            house.start_agent()
            for path in golden_files(self.suite):
                flip(path, self.random.randrange(8 * path.stat().st_size))
            result, record = self.submit(house)
            self.assertEqual(result.status, 1, result)
            text = (self.suite / "suite.yaml").read_text() + "".join(
                p.read_text() for p in (self.suite / "cases").glob("*.yaml"))
            outputs_that_differ = sum(
                1 for c in record["evidence"]["cases"] for o in c.get("launch", {}).get("outputs", [])
                if "first" in o.get("comparison", {}))
            self.assertGreaterEqual(outputs_that_differ, len(golden_files(self.suite)))
            unused = [p.name for p in golden_files(self.suite) if p.name not in text]
            self.assertEqual(unused, [], "golden files that no case names")


if __name__ == "__main__":
    unittest.main(verbosity=2)
