#!/usr/bin/env python3
"""man/ against the real programs: every command, argument and option of `--help` stands in the page, and no other."""

import dataclasses
import pathlib
import re
import shlex
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import harness  # noqa: E402

PAGES = sorted((harness.SOURCE / "man").glob("*.[1-8]"))
PROGRAMS = [page for page in PAGES if page.suffix in (".1", ".8")]
# Every command has it; the page says it once.
EVERYWHERE = {"--help"}


@dataclasses.dataclass
class Command:
    """What one command takes: long options, which of them take a value, and positional arguments."""

    options: set = dataclasses.field(default_factory=set)
    with_value: set = dataclasses.field(default_factory=set, compare=False)
    arguments: set = dataclasses.field(default_factory=set)


def section(text, title):
    """Entries of a section of --help, by their first line: descriptions that go on below are indented further."""
    match = re.search(rf"^{title}:[ ]*\n((?:[ ]+\S.*\n|\n(?=[ ]))*)", text, re.MULTILINE | re.IGNORECASE)
    return [line for line in match.group(1).splitlines() if re.match(r" {2,12}\S", line)] if match else []


def from_help(program, path=()):
    """Every command by its words, () for the program; groups, which can't be run themselves, are left out."""
    result = harness.run([harness.BIN / program, *path, "--help"])
    assert result.status == 0, result
    command = Command()
    if result.out.startswith("usage:"):
        usage = result.out.split("\n\n")[0]
        command.options = set(re.findall(r"--[a-z-]+", usage))
        command.arguments = set(re.findall(r"\b[A-Z]+\b", usage))
    for line in section(result.out, "Options"):
        match = re.match(r" +(?:-\w,\s*)?(--[a-z-]+)( [A-Z]+)?", line)
        if match:
            command.options.add(match.group(1))
            command.with_value |= {match.group(1)} if match.group(2) else set()
    command.arguments |= {line.split()[0] for line in section(result.out, "Positionals")}
    verbs = [line.split()[0] for line in section(result.out, "Subcommands")]
    is_group = bool(verbs) and command.options <= EVERYWHERE
    commands = {} if is_group else {path: command}
    for verb in verbs:
        commands.update(from_help(program, (*path, verb)))
    if path:
        command.options -= EVERYWHERE
    return commands


def flags(line):
    """The options that a line names, as people type them."""
    return {"-" + name for name in re.findall(r"(?:\bFl|[,|]) (-[a-z-]+)", line)}


def words(line):
    """The command that a line names, () for none."""
    match = re.search(r"\bIc ((?:[a-z-]+ ?)+)", line)
    return tuple(match.group(1).split()) if match else ()


def from_page(text):
    """The same as from_help, out of the lists: `.It Ic COMMAND Ar ARGUMENT`, and `.It Fl` below it."""
    commands = {(): Command()}
    path = ()
    listed = False
    for line in text.splitlines():
        if line.startswith(".Sh"):
            path = ()
            listed = line in (".Sh SYNOPSIS", ".Sh OPTIONS", ".Sh COMMANDS")
        if not listed or not (line.startswith(".It") or line.startswith(".Ar ")):
            continue
        if line.startswith(".It Ic"):
            path = words(line)
            commands[path] = Command()
        if not line.startswith(".It Fl"):
            commands[path].arguments |= set(re.findall(r"\bAr ([A-Z]+)\b", line))
        if line.startswith(".It"):
            commands[path].options |= flags(line)
    return commands


def examples(page):
    """Command lines of our programs in a page, as lists of words."""
    text = page.read_text().replace("\\e\n", "")
    lines = re.findall(r"^(?:\.Dl |\.Ql )?(pyptox-[a-z]+ .*)$", text, re.MULTILINE)
    return [shlex.split(re.sub(r" [.,]$", "", line)) for line in lines]


def fault_of(argv, programs):
    """Why a command line is none of the program; empty when it is one."""
    commands = programs[argv[0]]
    valued = set().union(*(c.with_value for c in commands.values()))
    rest = iter(argv[1:])
    used, plain = set(), []
    for word in rest:
        if word.startswith("--"):
            used.add(word)
            if word in valued:
                next(rest)
        else:
            plain.append(word)
    path = next(tuple(plain[:n]) for n in (2, 1, 0) if tuple(plain[:n]) in commands)
    if plain and not path and not commands[()].arguments:
        return "no such command"
    unknown = used - commands[path].options - commands[()].options - EVERYWHERE
    return f"no option {sorted(unknown)}" if unknown else ""


class ManPages(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.programs = {page.stem: from_help(page.stem) for page in PROGRAMS}

    def test_every_program_has_its_page(self):
        self.assertEqual(sorted(self.programs), ["pyptox-agent", "pyptox-controller", "pyptox-ctl", "pyptox-runner"])
        for commands in self.programs.values():
            self.assertLessEqual({"--help", "--version"}, commands[()].options)
        self.assertIn(("job", "logs"), self.programs["pyptox-ctl"])

    def test_the_lists_are_those_of_help(self):
        for page in PROGRAMS:
            written, real = from_page(page.read_text()), self.programs[page.stem]
            for path in sorted({*written, *real}):
                with self.subTest(page.name, command=" ".join(path)):
                    self.assertEqual(written.get(path), real.get(path))

    def test_a_line_that_goes_missing_is_seen(self):
        for page in PROGRAMS:
            lines = page.read_text().splitlines()
            entries = [i for i, line in enumerate(lines) if re.match(r"\.It (Fl|Ic)", line)]
            self.assertTrue(entries)
            for i in entries:
                text = "\n".join(lines[:i] + lines[i + 1:])
                with self.subTest(page.name, without=lines[i]):
                    self.assertNotEqual(from_page(text), self.programs[page.stem])

    def test_no_text_names_what_does_not_exist(self):
        for page in PROGRAMS:
            commands = self.programs[page.stem]
            options = set().union(*(command.options for command in commands.values())) | EVERYWHERE
            for number, line in enumerate(page.read_text().splitlines(), 1):
                with self.subTest(f"{page.name}:{number}"):
                    self.assertLessEqual(flags(line), options)
                    self.assertIn(words(line), {*commands, ()})

    def test_a_wrong_example_is_seen(self):
        for line, fault in [("pyptox-ctl jobs list", "no such command"), ("pyptox-ctl job lst", "no such command"),
                            ("pyptox-ctl --output json job list --all", "no option ['--all']"),
                            ("pyptox-runner a b --nam", "no option ['--nam']"), ("pyptox-runner a b", "")]:
            with self.subTest(line):
                self.assertEqual(fault_of(line.split(), self.programs), fault)

    def test_examples_are_command_lines(self):
        for page in PAGES:
            self.assertTrue(examples(page), page)
            for argv in examples(page):
                with self.subTest(page.name, line=argv):
                    self.assertEqual(fault_of(argv, self.programs), "")

    def test_the_suite_page(self):
        page = harness.SOURCE / "man" / "pyptox-suite.5"
        proto = (harness.SOURCE / "proto/pyptox/v1/suite.proto").read_text()
        members = re.findall(r"(\w+) = \d+", re.search(r"message Suite \{(.*?)\n\}", proto, re.DOTALL).group(1))
        self.assertCountEqual(re.findall(r"^\.It Ic (\w+)$", page.read_text(), re.MULTILINE), members)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            example = re.search(r"^\.Bd [^\n]*\n(.*?)^\.Ed$", page.read_text(), re.DOTALL | re.MULTILINE).group(1)
            (folder / "suite.yaml").write_text(example)
            (folder / "double.c").write_text("")
            (folder / "golden").mkdir()
            (folder / "golden" / "y.bin").write_bytes(bytes(16))
            for verb in ["pin", "check"]:
                result = harness.run([harness.BIN / "pyptox-ctl", "suite", verb, folder / "suite.yaml"])
                self.assertEqual(result.status, 0, result)

    def test_sections(self):
        expected = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "ENVIRONMENT", "FILES", "EXIT STATUS", "EXAMPLES",
                    "SEE ALSO"]
        for page in PROGRAMS:
            with self.subTest(page.name):
                titles = re.findall(r"^\.Sh (.*)$", page.read_text(), re.MULTILINE)
                self.assertEqual([t for t in titles if t != "COMMANDS"], expected)

    def test_they_are_well_formed(self):
        for page in PAGES:
            with self.subTest(page.name):
                result = harness.run(["mandoc", "-T", "lint", "-W", "warning", page])
                self.assertEqual((result.out, result.status), ("", 0), result)

    def test_pages_that_they_refer_to_are_there(self):
        for page in PAGES:
            for name, number in re.findall(r"^\.Xr (pyptox-\S+) (\d)", page.read_text(), re.MULTILINE):
                self.assertTrue(page.with_name(f"{name}.{number}").exists(), f"{page.name}: {name}({number})")

    def test_all_are_installed(self):
        listed = (harness.SOURCE / "man" / "CMakeLists.txt").read_text()
        for page in PAGES:
            self.assertIn(f" {page.name}", listed.replace("(FILES", ""))


if __name__ == "__main__":
    unittest.main()
