#!/usr/bin/env python3
"""Bad input and trouble: each has its stated verdict or error, nothing passes by accident, nothing is lost.

One controller and one agent serve the whole table; each row bends the tiny suite in one place.
"""

import copy
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import harness  # noqa: E402
import tiny_suite  # noqa: E402

SHELL = "/bin/sh"


def lane(**changes):
    value = copy.deepcopy(tiny_suite.suite()["lanes"][0])
    value.update(changes)
    return [value]


def compile_with(*argv):
    return lane(compile=[{"argv": list(argv), "outputs": ["build/k.so"]}])


def run_lane(script, **report):
    """A lane that runs a shell script and reads its report from build/r."""
    value = tiny_suite.suite()["lanes"][0]
    return [{"name": value["name"], "target": value["target"], "resource": value["resource"],
             "run": {"argv": [SHELL, "-c", script],
                     "report": {"format": "tap", "file": "build/r", "planned": 2, **report}},
             "limits": {"run_s": 60, "silence_s": 20}}]


def second_case(kernel):
    return [tiny_suite.case("one"), tiny_suite.case("two", kernel)]


class Trouble(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="pyptox-trouble.")
        cls.house = harness.House()
        cls.house.start_controller()
        cls.house.start_agent()
        cls.count = 0

    @classmethod
    def tearDownClass(cls):
        cls.house.__exit__(None, None, None)
        cls.folder.cleanup()

    def submit(self, value=None, options=(), **files):
        type(self).count += 1
        path = tiny_suite.write(pathlib.Path(self.folder.name) / str(self.count), value, **files)
        result = self.house.ctl("submit", "--wait", *options, path)
        return result

    def newest(self):
        return self.house.ctl_json("record", "list", "--limit", "1")["records"][0]

    def expect(self, result, status, verdict, kind, text=""):
        self.assertEqual(result.status, status, result)
        record = self.newest()
        outcome = record["outcome"]
        self.assertEqual((outcome["verdict"], outcome.get("kind", "")), (f"VERDICT_{verdict}", kind), outcome)
        self.assertIn(text, json.dumps(record), result)
        return record

    def expect_case(self, kernel, outcome, text=""):
        result = self.submit(tiny_suite.suite(cases=second_case(kernel)))
        record = self.expect(result, 1, "FAIL", "cases", text)
        cases = {c["name"]: c["outcome"] for c in record["evidence"]["cases"]}
        self.assertEqual(cases, {"one": "CASE_OUTCOME_PASS", "two": f"CASE_OUTCOME_{outcome}"})
        self.assertIn("two", result.out)

    # --- the honest suite passes, or nothing below means anything
    def test_00_honest(self):
        record = self.expect(self.submit(), 0, "PASS", "")
        self.assertEqual(record["counts"], {"planned": 2, "passed": 2})

    # --- the suite file
    def refused(self, value, text, status=65, **files):
        before = self.house.ctl_json("job", "list")["jobs"]
        result = self.submit(value, **files)
        self.assertEqual(result.status, status, result)
        self.assertIn(text, result.err)
        self.assertEqual(self.house.ctl_json("job", "list")["jobs"], before, "nothing was queued")

    def test_wrong_yaml(self):
        folder = pathlib.Path(self.folder.name) / "yaml"
        folder.mkdir()
        (folder / "suite.yaml").write_text("name: [tiny\nlanes: }\n")
        result = self.house.ctl("submit", folder / "suite.yaml")
        self.assertEqual(result.status, 65, result)
        self.assertIn("suite.yaml:2", result.err)

    def test_all_faults_at_once(self):
        value = tiny_suite.suite(colour="red", planned="many")
        del value["contract"]
        type(self).count += 1
        path = tiny_suite.write(pathlib.Path(self.folder.name) / str(self.count), value)
        result = self.house.ctl("suite", "check", path)
        self.assertEqual(result.status, 65, result)
        for text in ("colour", "planned", "contract"):
            self.assertIn(text, result.err + result.out)

    def test_unknown_lane(self):
        result = self.submit(options=["--lane", "cuda@nowhere"])
        self.assertEqual(result.status, 64, result)
        self.assertIn("cuda@nowhere", result.err)
        self.assertIn(tiny_suite.LANE, result.err)

    def test_unknown_flag(self):
        result = self.submit(options=["--frobnicate"])
        self.assertEqual(result.status, 64, result)
        self.assertIn("--frobnicate", result.err)

    def test_missing_source(self):
        self.refused(tiny_suite.suite(sources=["*.c", "*.h", "data/*", "gone/*.c"]), "gone/*.c")

    def test_fewer_cases_than_planned(self):
        self.refused(tiny_suite.suite(planned=3), "planned")

    def test_zero_cases(self):
        self.refused(tiny_suite.suite(cases=[], planned=0), "cases")

    # --- goldens
    def test_golden_of_another_length(self):
        result = self.submit(**{"data/c.bin": tiny_suite.f32(11, 22, 33)})
        record = self.expect(result, 1, "FAIL", "cases", "CASE_OUTCOME_BAD_FILE")
        self.assertNotIn("passed", record["counts"])

    def test_golden_of_another_dtype(self):
        value = tiny_suite.suite()
        value["cases"][1]["buffers"][2]["dtype"] = "f64"
        self.assertEqual(self.submit(value).status, 1)

    def test_golden_changed_with_the_code_is_not_a_pass(self):
        kernels = tiny_suite.KERNELS.replace("a[i] + b[i]", "a[i] - b[i]")
        result = self.submit(**{"kernels.c": kernels, "data/c.bin": tiny_suite.f32(-9, -18, -27, -36)})
        self.expect(result, 1, "FAIL", "cases", "CASE_OUTCOME_UNPINNED_GOLDEN")

    # --- the compiler
    def test_absent_compiler(self):
        result = self.submit(tiny_suite.suite(lanes=compile_with("no-such-cc", "-o", "build/k.so", "src/kernels.c")))
        self.expect(result, 3, "BLOCKED_TOOLCHAIN", "absent", "no-such-cc")

    def test_compiler_that_fails(self):
        result = self.submit(**{"kernels.c": "this is not C\n"})
        self.expect(result, 1, "FAIL", "compile")

    def test_compiler_that_makes_nothing(self):
        result = self.submit(tiny_suite.suite(lanes=compile_with("true")))
        self.expect(result, 1, "FAIL", "no_output", "build/k.so")

    def test_wrong_machine(self):
        value = lane()
        value[0]["checks"][0]["elf"]["machine"] = "aarch64"
        self.expect(self.submit(tiny_suite.suite(lanes=value)), 1, "FAIL", "check", "aarch64")

    # --- the kernel
    def test_symbol_not_found(self):
        self.expect_case("no_such_kernel", "NO_SYMBOL", "no_such_kernel")

    def test_one_byte_past(self):
        self.expect_case("one_byte_past", "OUT_OF_BOUNDS")

    def test_one_byte_before(self):
        self.expect_case("one_byte_before", "OUT_OF_BOUNDS")

    def test_changes_input(self):
        self.expect_case("changes_input", "INPUT_CHANGED")

    def test_differs_each_time(self):
        self.expect_case("differs_each_time", "NOT_DETERMINISTIC")

    def test_crashes(self):
        self.expect_case("crashes", "CRASH")

    def test_exits(self):
        self.expect_case("exits", "EXITED")

    def test_hangs(self):
        self.expect_case("hangs", "HANG")

    def test_rounding_mode(self):
        self.expect_case("rounds_up", "FP_ENVIRONMENT")

    def test_unexpected_refusal(self):
        self.expect_case("refuses", "WRONG_STATUS")

    def test_writes_nothing(self):
        self.expect_case("does_nothing", "MISMATCH")

    # --- reports
    def test_honest_report(self):
        self.expect(self.submit(tiny_suite.suite(lanes=run_lane("printf '1..2\\nok 1\\nok 2\\n' >build/r"))), 0, "PASS", "")

    def test_empty_report(self):
        self.expect(self.submit(tiny_suite.suite(lanes=run_lane(": >build/r"))), 70, "INFRA", "report", "empty")

    def test_no_report(self):
        self.expect(self.submit(tiny_suite.suite(lanes=run_lane("true"))), 70, "INFRA", "report", "build/r")

    def test_cut_report(self):
        script = "printf '1..2\\nok 1\\nok' >build/r"
        self.expect(self.submit(tiny_suite.suite(lanes=run_lane(script))), 70, "INFRA", "report")

    def test_report_disagrees(self):
        script = "printf '1..2\\nok 1\\nnot ok 2\\n' >build/r"
        self.expect(self.submit(tiny_suite.suite(lanes=run_lane(script))), 70, "INFRA", "report_disagrees")

    def test_report_without_cases(self):
        self.expect(self.submit(tiny_suite.suite(lanes=run_lane("printf '1..0\\n' >build/r"))), 1, "NO_VERDICT", "planned")

    def test_report_with_fewer_cases(self):
        script = "printf '1..1\\nok 1\\n' >build/r"
        self.expect(self.submit(tiny_suite.suite(lanes=run_lane(script))), 1, "NO_VERDICT", "planned")

    # --- processes and output
    def test_silence(self):
        value = run_lane("sleep 600")
        value[0]["limits"] = {"run_s": 60, "silence_s": 1}
        self.expect(self.submit(tiny_suite.suite(lanes=value)), 1, "TIMEOUT", "silence")

    def test_step_that_forks_away(self):
        pid = pathlib.Path(self.folder.name) / "daemon.pid"
        script = (f"setsid {SHELL} -c '(trap \"\" TERM HUP; echo $$ >{pid}; exec sleep 600) &' ; "
                  f"while [ ! -s {pid} ]; do sleep 0.01; done; printf '1..2\\nok 1\\nok 2\\n' >build/r")
        self.submit(tiny_suite.suite(lanes=run_lane(script)))
        with self.assertRaises(ProcessLookupError):
            os.kill(int(pid.read_text()), 0)

    def test_a_gigabyte_without_a_newline(self):
        script = "head -c 1000000000 /dev/zero | tr '\\0' x; printf END; printf '1..2\\nok 1\\nok 2\\n' >build/r"
        self.expect(self.submit(tiny_suite.suite(lanes=run_lane(script))), 0, "PASS", "")
        record = self.newest()
        # The output and the agent's own heading of each step.
        self.assertIn(int(record["evidence"]["log_bytes"]) - 1_000_000_003, range(0, 1000))
        self.assertLessEqual(int(record["evidence"]["log_bytes_kept"]), 64 << 20)
        log = subprocess.run([harness.BIN / "pyptox-ctl", "--controller", self.house.address, "job", "logs",
                              str(record["job_id"])], stdout=subprocess.PIPE, timeout=120).stdout
        self.assertIn(b"xEND", log[-500:])
        self.assertIn(b"left out]", log)
        self.assertLess(len(log), 65 << 20)

    def test_client_gone(self):
        type(self).count += 1
        flag = pathlib.Path(self.folder.name) / "client-is-gone"
        script = f"while [ ! -e {flag} ]; do sleep 0.05; done; printf '1..2\\nok 1\\nok 2\\n' >build/r"
        path = tiny_suite.write(pathlib.Path(self.folder.name) / str(self.count),
                                tiny_suite.suite(lanes=run_lane(script)))
        before = {j["id"] for j in self.house.ctl_json("job", "list")["jobs"]}
        client = subprocess.Popen([harness.BIN / "pyptox-ctl", "--controller", self.house.address, "--output", "quiet",
                                   "submit", "--wait", path])
        mine = []
        while not mine:
            self.assertIsNone(client.poll(), "the client ended before its job")
            mine = [j["id"] for j in self.house.ctl_json("job", "list")["jobs"] if j["id"] not in before]
        client.send_signal(signal.SIGKILL)
        client.wait()
        flag.touch()
        result = self.house.ctl("job", "wait", mine[0])
        self.assertEqual(result.status, 0, result)

    # More jobs than one host may have streams open.
    def test_wait_for_many_jobs(self):
        type(self).count += 1
        flag = pathlib.Path(self.folder.name) / "all-are-waited-for"
        script = f"while [ ! -e {flag} ]; do sleep 0.05; done; printf '1..2\\nok 1\\nok 2\\n' >build/r"
        path = tiny_suite.write(pathlib.Path(self.folder.name) / str(self.count),
                                tiny_suite.suite(lanes=run_lane(script)))
        jobs = [self.house.ctl_json("submit", path)["jobs"][0]["id"] for _ in range(70)]
        with subprocess.Popen([harness.BIN / "pyptox-ctl", "--controller", self.house.address, "job", "wait", *jobs],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as waiter:
            waiter.stderr.readline()
            self.house.ctl("job", "cancel", *jobs[1:])
            flag.touch()
            out, err = waiter.communicate(timeout=120)
        self.assertEqual(waiter.returncode, 1, err)
        self.assertEqual(out.count("CANCELLED"), 69, out)
        self.assertEqual(out.count("PASS"), 1, out)


class Run(unittest.TestCase):
    """`pyptox-ctl run`, which has a controller of its own."""

    def test_jobs_of_a_killed_run_are_named(self):
        with tempfile.TemporaryDirectory(prefix="pyptox-run.") as folder:
            env = {"PYPTOX_DATA": folder + "/data"}
            started = pathlib.Path(folder) / "started"
            held = run_lane(f"touch {started}; [ -e {folder}/go ] || sleep 600; printf '1..2\\nok 1\\nok 2\\n' >build/r")
            suite = tiny_suite.write(pathlib.Path(folder) / "s", tiny_suite.suite(lanes=held))
            killed = subprocess.Popen([harness.BIN / "pyptox-ctl", "--output", "quiet", "run", suite],
                                      env={**os.environ, **env})
            while not started.exists():
                self.assertIsNone(killed.poll(), "it ended before its job")
            killed.kill()
            killed.wait()
            (pathlib.Path(folder) / "go").touch()
            result = harness.run([harness.BIN / "pyptox-ctl", "run", suite], env=env)
            self.assertEqual(result.status, 0, result)
            self.assertIn(f"job 1 (tiny on {tiny_suite.LANE}) of an earlier command is not done", result.err)

    def test_a_data_folder_that_can_not_be(self):
        with tempfile.TemporaryDirectory(prefix="pyptox-run.") as folder:
            suite = tiny_suite.write(pathlib.Path(folder) / "s")
            for data in ("/dev/null", "/proc/none"):
                result = harness.run([harness.BIN / "pyptox-ctl", "run", suite], env={"PYPTOX_DATA": data})
                self.assertEqual(result.status, 74, result)
                self.assertIn(data, result.err)


class FullDisk(unittest.TestCase):
    """The agent's work folder on a file system of 24 MiB: INFRA(disk_full), never a verdict about the code."""

    @unittest.skipUnless(os.geteuid() == 0, "mounting a small file system needs root")
    def test_full_disk(self):
        with tempfile.TemporaryDirectory(prefix="pyptox-disk.") as folder, harness.House() as house:
            work = house.folder / "agent-dev"
            work.mkdir()
            mounted = harness.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", work])
            if mounted.status != 0:
                self.skipTest(f"mount: {mounted.err.strip()}")
            try:
                house.start_controller()
                house.start_agent("dev", extra=["--free-space-floor", str(1 << 20)])
                script = "cat /dev/zero >build/fill; printf '1..2\\nok 1\\nok 2\\n' >build/r"
                path = tiny_suite.write(pathlib.Path(folder) / "s", tiny_suite.suite(lanes=run_lane(script)))
                result = house.ctl("submit", "--wait", "--max-attempts", "1", path)
                self.assertEqual(result.status, 70, result)
                record = house.ctl_json("record", "list", "--limit", "1")["records"][0]
                self.assertEqual(record["outcome"]["verdict"], "VERDICT_INFRA", record["outcome"])
                self.assertEqual(record["outcome"]["kind"], "disk_full", record["outcome"])
            finally:
                house.kill_agent()
                harness.run(["umount", "-l", work])


if __name__ == "__main__":
    unittest.main(verbosity=2)
