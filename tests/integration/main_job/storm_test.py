#!/usr/bin/env python3
"""kill -9 of controller and agent at 20 random moments of a run: the final matrix equals the undisturbed one, every case
is recorded once, the chain verifies, and nothing is left running."""

import os
import pathlib
import random
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import harness  # noqa: E402

SUITE = harness.SOURCE / "examples" / "portable-ops"
KILLS = 20
# What a cell says apart from when it was written and which number its record has.
CELL = ("suite, lane, target, resource, standing, reason, evidence_class, cases_planned, cases_passed, cases_failed, "
        "cases_skipped, head")


def processes_of(folder):
    """Pids whose command line or working folder lies under `folder`."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            cwd = os.readlink(entry / "cwd")
        except OSError:
            continue
        if str(folder) in line or cwd.startswith(str(folder)):
            found.append((int(entry.name), line))
    return found


class Storm(unittest.TestCase):
    def setUp(self):
        self.seed = int(os.environ.get("PYPTOX_SEED", random.SystemRandom().randrange(1 << 32)))
        print(f"seed {self.seed} (PYPTOX_SEED replays the moments, not the scheduling)")
        self.random = random.Random(self.seed)
        self.folder = tempfile.TemporaryDirectory(prefix="pyptox-storm.")
        self.suite = harness.committed_copy(SUITE, pathlib.Path(self.folder.name) / "suite")

    def tearDown(self):
        self.folder.cleanup()

    def undisturbed(self):
        with harness.House() as house:
            house.start_controller()
            house.start_agent()
            started = time.monotonic()
            house.ctl("submit", "--wait", self.suite / "suite.yaml")
            return house.sql(f"select {CELL} from matrix order by suite, lane"), time.monotonic() - started

    def test_twenty_kills_change_nothing(self):
        wanted, seconds = self.undisturbed()
        self.assertEqual(len(wanted), 4)
        with harness.House() as house:
            house.start_controller()
            house.start_agent()
            submitted = house.ctl_json("submit", self.suite / "suite.yaml")
            jobs = [j["id"] for j in submitted["jobs"]]
            for number in range(KILLS):
                time.sleep(self.random.uniform(0, seconds / 4))
                victims = self.random.choice(["controller", "agent", "both"])
                if victims in ("controller", "both"):
                    house.kill_controller()
                if victims in ("agent", "both"):
                    house.kill_agent()
                if victims in ("controller", "both"):
                    house.start_controller()
                if victims in ("agent", "both"):
                    house.start_agent()
            for job in jobs:
                house.ctl("job", "wait", job, timeout=600)

            self.assertEqual(house.sql(f"select {CELL} from matrix order by suite, lane"), wanted)
            per_job = house.sql("select job_id, count(*) as n from records group by job_id order by job_id")
            self.assertEqual(per_job, [{"job_id": int(j), "n": 1} for j in sorted(jobs, key=int)])
            twice = house.sql("select record_id, name, count(*) as n from cases group by record_id, name having n > 1")
            self.assertEqual(twice, [])
            verified = house.ctl("record", "verify")
            self.assertEqual(verified.status, 0, verified)
            attempts = house.sql("select count(*) as n from attempts")[0]["n"]
            print(f"{KILLS} kills, {attempts} attempts, {len(jobs)} records")

            house.kill_agent()
            house.kill_controller()
            self.assertEqual(processes_of(house.folder), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
