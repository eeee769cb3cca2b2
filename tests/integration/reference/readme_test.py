#!/usr/bin/env python3
"""README.md's "Using it": its lines of pyptox-ctl, in their order, do what they say, with the suite of suite-format.md."""

import os
import pathlib
import re
import shlex
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import harness  # noqa: E402

README = (harness.SOURCE / "README.md").read_text()
USING = re.search(r"^## Using it\n\n```sh\n(.*?)^```", README, re.MULTILINE | re.DOTALL).group(1)
# 3 where this machine lacks AVX2: a lane of that suite is blocked then.
PASS_OR_BLOCKED = (0, 3)


class Readme(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory(prefix="pyptox-readme.")
        self.addCleanup(home.cleanup)
        self.home = pathlib.Path(home.name)
        self.suite = self.home / "suite"
        harness.page_suite(self.suite)
        pinned = harness.run([harness.BIN / "pyptox-ctl", "suite", "pin", self.suite / "suite.yaml"])
        self.assertEqual(pinned.status, 0, pinned)
        harness.commit(self.suite)

    def test_its_lines_work(self):
        lines = [shlex.split(line, comments=True) for line in USING.splitlines() if line.startswith("pyptox-ctl ")]
        self.assertEqual([argv[1] for argv in lines], ["run", "submit", "job", "matrix", "query", "record"])
        with harness.House() as house:
            house.start_controller()
            house.start_agent()
            env = {"PYPTOX_CONTROLLER": house.address, "PYPTOX_DATA": str(self.home / "data"),
                   "PATH": f"{harness.BIN}:{os.environ['PATH']}"}
            for argv in lines:
                # The page's job 7 stands for any.
                argv = [house.ctl_json("job", "list")["jobs"][0]["id"] if word == "7" else word for word in argv]
                result = harness.run(argv, env=env, cwd=self.suite)
                with self.subTest(" ".join(argv)):
                    self.assertIn(result.status, PASS_OR_BLOCKED if argv[1] in ("run", "submit") else (0,), result)
                    self.assertNotEqual(result.out, "")
                    if argv[1] == "query":
                        self.assertRegex(result.out, r"cpu-scalar@dev +PASS")


if __name__ == "__main__":
    unittest.main()
