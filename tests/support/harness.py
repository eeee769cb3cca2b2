"""Runs the real binaries for an integration test: a controller and agents on loopback in a folder of the test's own.

Everything started here is stopped here, by pid. Waiting is on files and exits, never on a guessed time.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

BIN = pathlib.Path(os.environ["PYPTOX_BIN_DIR"])
SOURCE = pathlib.Path(os.environ["PYPTOX_SOURCE_DIR"])


class Result:
    """Exit status, stdout and stderr of one command."""

    def __init__(self, process):
        self.status = process.returncode
        self.out = process.stdout
        self.err = process.stderr

    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return f"exit {self.status}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


def run(argv, env=None, timeout=300, **kwargs):
    process = subprocess.run([str(a) for a in argv], env={**os.environ, **(env or {})}, timeout=timeout,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             errors="backslashreplace", **kwargs)
    return Result(process)


def git(folder, *argv):
    result = run(["git", "-c", "user.name=Test", "-c", "user.email=test@example.org", "-C", folder, *argv])
    assert result.status == 0, result
    return result.out.strip()


def commit(folder):
    """Makes a folder a repository of its own with one commit."""
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "suite")


def committed_copy(suite_folder, destination):
    """Copies a suite into a repository of its own with one commit; returns the copy's folder."""
    shutil.copytree(suite_folder, destination)
    commit(destination)
    return pathlib.Path(destination)


def page_suite(folder):
    """Writes the whole suite of docs/suite-format.md: each block that follows a line with nothing but a file's name."""
    page = (SOURCE / "docs" / "suite-format.md").read_text()
    for name, text in re.findall(r"^`([^`\n]+)`:\n\n```\w*\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    shutil.copy(SOURCE / "backends" / "runner" / "pyptox_kernel.h", folder)


class House:
    """A controller with its data folder, and agents. Use it with `with`."""

    def __init__(self, folder=None):
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="pyptox-test."))
        self.folder.mkdir(parents=True, exist_ok=True)
        self.address = f"unix:{self.folder}/c.sock"
        self.controller = None
        self.agents = {}

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        for process in [self.controller, *self.agents.values()]:
            if process is not None and process.poll() is None:
                process.kill()
            if process is not None:
                process.wait()
        if exception == (None, None, None):
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            print(f"left for inspection: {self.folder}")

    def _spawn(self, argv, log):
        with open(self.folder / log, "ab") as stream:
            return subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=stream, stderr=stream)

    def start_controller(self):
        ready = self.folder / "ready"
        ready.unlink(missing_ok=True)
        self.controller = self._spawn([BIN / "pyptox-controller", "--data", self.folder / "data", "--listen",
                                       self.address, "--ready-file", ready, "--exit-with-parent"], "controller.log")
        while not ready.exists():
            assert self.controller.poll() is None, (self.folder / "controller.log").read_text()
            time.sleep(0.01)

    def start_agent(self, name="dev", resources=("dev=cpu", "qemu=qemu"), extra=()):
        argv = [BIN / "pyptox-agent", "--name", name, "--controller", self.address, "--work-root",
                self.folder / f"agent-{name}", "--exit-with-parent"]
        for resource in resources:
            argv += ["--resource", resource]
        argv += extra
        self.agents[name] = self._spawn(argv, f"agent-{name}.log")

    def kill_controller(self):
        self.controller.send_signal(signal.SIGKILL)
        self.controller.wait()

    def kill_agent(self, name="dev"):
        self.agents[name].send_signal(signal.SIGKILL)
        self.agents[name].wait()

    def ctl(self, *argv, timeout=300):
        return run([BIN / "pyptox-ctl", "--controller", self.address, *argv], timeout=timeout)

    def ctl_json(self, *argv, timeout=300):
        result = self.ctl("--output", "json", *argv, timeout=timeout)
        assert result.out, result
        return result.json()

    def sql(self, statement):
        """Asks the database file directly, as a person with sqlite3 would. Returns a list of rows by column name."""
        result = run(["sqlite3", "-json", "-readonly", self.folder / "data" / "pyptox.db", statement])
        assert result.status == 0, result
        return json.loads(result.out or "[]")
