#!/usr/bin/env python3
"""`cmake --install`: exactly what is promised lies under the prefix, and what lies there does the main job alone."""

import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import harness  # noqa: E402

PROGRAMS = {"bin/pyptox-agent", "bin/pyptox-controller", "bin/pyptox-ctl", "bin/pyptox-runner"}
AARCH64_RUNNER = "bin/aarch64/pyptox-runner"
FILES = {
    "include/pyptox_kernel.h",
    "share/doc/pyptox/CHANGELOG.md", "share/doc/pyptox/LICENSE",
    "share/doc/pyptox/schema.md", "share/doc/pyptox/suite-format.md",
    "share/man/man1/pyptox-ctl.1", "share/man/man1/pyptox-runner.1", "share/man/man5/pyptox-suite.5",
    "share/man/man8/pyptox-agent.8", "share/man/man8/pyptox-controller.8",
}


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        home = tempfile.TemporaryDirectory(prefix="pyptox-install.")
        cls.addClassCleanup(home.cleanup)
        cls.home = pathlib.Path(home.name)
        cls.prefix = cls.home / "prefix"
        result = harness.run([os.environ["PYPTOX_CMAKE"], "--install", harness.BIN.parent, "--prefix", cls.prefix])
        assert result.status == 0, result
        cls.has_aarch64 = (harness.BIN / "aarch64" / "pyptox-runner").exists()

    def test_nothing_more_and_nothing_less(self):
        found = {str(p.relative_to(self.prefix)) for p in self.prefix.rglob("*") if not p.is_dir()}
        self.assertEqual(found, PROGRAMS | FILES | ({AARCH64_RUNNER} if self.has_aarch64 else set()))

    def test_modes(self):
        for path in self.prefix.rglob("*"):
            with self.subTest(path.relative_to(self.prefix)):
                program = path.is_dir() or "bin" in path.relative_to(self.prefix).parts
                self.assertEqual(path.stat().st_mode & 0o777, 0o755 if program else 0o644)

    def test_the_header_is_enough_for_a_kernel(self):
        source = self.home / "kernel.c"
        source.write_text('#include <pyptox_kernel.h>\nint32_t k(const pyptox_launch* l);\n'
                          'int32_t k(const pyptox_launch* l) { return l == 0; }\n'
                          'pyptox_kernel named = k;\n')
        for standard in (["cc", "-std=c99"], ["c++", "-std=c++11", "-x", "c++"]):
            result = harness.run([*standard, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I",
                                  self.prefix / "include", source])
            self.assertEqual(result.status, 0, result)

    def test_the_installed_programs_do_the_main_job(self):
        lanes = {"cpu-scalar@dev", "aarch64-sve256@qemu"} if self.has_aarch64 else {"cpu-scalar@dev"}
        suite = harness.committed_copy(harness.SOURCE / "examples" / "portable-ops", self.home / "suite")
        ran = harness.run([self.prefix / "bin" / "pyptox-ctl", "--output", "json", "run",
                           *(f"--lane={lane}" for lane in lanes), suite / "suite.yaml"],
                          env={"PYPTOX_DATA": str(self.home / "data"), "PATH": "/usr/bin:/bin"})
        self.assertEqual(ran.status, 0, ran)
        # The matrix shows every lane of the suite; those that were not asked for stay NEVER_RUN.
        cells = {cell["lane"]: cell for cell in ran.json()["cells"]}
        self.assertEqual({lane for lane, cell in cells.items() if cell["standing"] != "NEVER_RUN"}, lanes, cells)
        for cell in (cells[lane] for lane in lanes):
            self.assertGreaterEqual(int(cell["counts"]["planned"]), 40)
            self.assertEqual(cell["counts"]["passed"], cell["counts"]["planned"])


if __name__ == "__main__":
    unittest.main()
