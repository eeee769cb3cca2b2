"""Checks the house rules of DESIGN sections 3 and 11 over a source tree: `tidy.py ROOT`.

Rules that are data stand in docs/layers.txt. Each fault is printed as `FILE:LINE: [RULE] TEXT`; exit 1 when there is
one. tidy_test.py plants each kind of fault and looks for it.
"""

import fnmatch
import pathlib
import re
import sys

IGNORED = {"build", "shared", "__pycache__", "compile_commands.json", ".git", ".cache"}
CODE = {".cc", ".h", ".c"}
MAX_LINES = 500
LENGTH_SUFFIXES = CODE | {".py", ".proto", ".sh", ".cmake"}


class Tree:
    """The files of a source tree, by relative path with '/', and their texts."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.paths = sorted(self._walk(self.root))
        self._texts = {}

    def _walk(self, folder):
        for entry in folder.iterdir():
            if entry.name in IGNORED or entry.suffix == ".pyc" or entry.is_symlink():
                continue
            if entry.is_dir():
                yield from self._walk(entry)
            else:
                yield entry.relative_to(self.root).as_posix()

    def text(self, path):
        """The file's text; None for a binary one."""
        if path not in self._texts:
            data = (self.root / path).read_bytes()
            self._texts[path] = None if b"\0" in data else data.decode("utf-8", "replace")
        return self._texts[path]

    def code(self):
        return [p for p in self.paths if pathlib.PurePosixPath(p).suffix in CODE]


class Layers:
    """docs/layers.txt."""

    def __init__(self, text):
        self.allowed = {}  # folder -> set of folders
        self.homes = []  # (patterns, folders)
        self.bans = []  # (folders, regex, why)
        self.words = set()
        self.long = {}  # path -> reason
        self.faults = []
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            try:
                kind, _, rest = line.partition(" | ")
                self._read(kind, rest)
            except (ValueError, re.error) as error:
                self.faults.append(("docs/layers.txt", number, "layers", f"can't be read: {error}"))

    def _read(self, kind, rest):
        if kind == "layer":
            folders, _, allowed = rest.partition(" |")
            for folder in folders.split():
                if folder in self.allowed:
                    raise ValueError(f"{folder} twice")
                self.allowed[folder] = set(allowed.split())
        elif kind == "home":
            patterns, folders = rest.split(" | ")
            self.homes.append((patterns.split(), folders.split()))
        elif kind == "ban":
            folders, rest = rest.split(" | ", 1)
            regex, why = rest.rsplit(" | ", 1)
            self.bans.append((folders.split(), re.compile(regex), why))
        elif kind == "word":
            self.words |= set(rest.split())
        elif kind == "long":
            path, reason = rest.split(" | ")
            self.long[path] = reason
        else:
            raise ValueError(f"unknown kind {kind}")

    def folder_of(self, path):
        """The longest layer that holds `path`; None when there is none."""
        held = [f for f in self.allowed if is_below(path, f)]
        return max(held, key=len, default=None)


def is_below(path, folder):
    return path == folder or path.startswith(folder + "/")


def without_comments(text, texts_too=True):
    """C++ with comments (and string contents, unless texts_too is False) blanked; line numbers stay."""
    token = re.compile(r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>\w*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""",
                       re.DOTALL)

    def blank(match):
        found = match.group(0)
        if found.startswith("/") or texts_too:
            return "\n" * found.count("\n") + (" " if found.startswith("/") else '""')
        return found

    return token.sub(blank, text)


def lines_matching(text, regex):
    for number, line in enumerate(text.splitlines(), 1):
        match = regex.search(line)
        if match:
            yield number, match


INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def check_includes(tree, layers):
    """Arrows point down only; every include of ours is repo-root relative and there."""
    top = {p.split("/")[0] for p in tree.paths if "/" in p}
    paths = set(tree.paths)
    for path in tree.code():
        own = layers.folder_of(path)
        if own is None:
            yield path, 1, "arrow", "no layer in docs/layers.txt holds this file"
            continue
        if path.startswith("examples/"):
            continue  # a suite is compiled apart, in its own folder
        for number, match in lines_matching(without_comments(tree.text(path), texts_too=False), INCLUDE):
            name = match.group(2)
            if name in paths:
                folder = layers.folder_of(name)
                if folder != own and folder not in layers.allowed[own] and "*" not in layers.allowed[own]:
                    yield path, number, "arrow", f"{own} may not include {folder} ({name})"
            elif name.split("/")[0] in top:
                yield path, number, "include", f"{name} does not exist"
            elif match.group(1) == '"' and (tree.root / path).parent.joinpath(name).exists():
                yield path, number, "include", f"write {name} relative to the root of the repository"


def check_homes(tree, layers):
    """Third-party headers stay in their homes."""
    for path in tree.code():
        place = re.sub(r"^tests/[a-z]+/(?=.*/)", "", path)
        for number, match in lines_matching(without_comments(tree.text(path), texts_too=False), INCLUDE):
            for patterns, folders in layers.homes:
                at_home = any(is_below(path, f) or is_below(place, f) for f in folders)
                if not at_home and any(fnmatch.fnmatchcase(match.group(2), p) for p in patterns):
                    yield path, number, "home", f"{match.group(2)} may be included in {', '.join(folders)} only"


def check_bans(tree, layers):
    """Banned tokens per folder. A rule for `matrix` leaves out `matrix/store`, which is a layer of its own."""
    stripped = {}
    for folders, regex, why in layers.bans:
        for path in tree.code():
            layer = layers.folder_of(path)
            if not any(is_below(path, f) and (f not in layers.allowed or layer == f) for f in folders):
                continue
            if path not in stripped:
                stripped[path] = without_comments(tree.text(path))
            for number, match in lines_matching(stripped[path], regex):
                yield path, number, "ban", f"{match.group(0).strip()!r} is not allowed here: {why}"


def check_names(tree, layers):
    for path in tree.paths:
        parts = set(re.split(r"[/_.\-]", path.lower()))
        for word in sorted(parts & layers.words):
            yield path, 0, "name", f"'{word}' says nothing; name it after what it holds"


def check_length(tree, layers):
    for path in tree.paths:
        if pathlib.PurePosixPath(path).suffix not in LENGTH_SUFFIXES or tree.text(path) is None:
            continue
        count = tree.text(path).count("\n")
        if count > MAX_LINES and path not in layers.long:
            yield path, count, "length", f"{count} lines; over {MAX_LINES} needs a `long` line with its reason"
        if count <= MAX_LINES and path in layers.long:
            yield path, count, "length", f"has {count} lines; its `long` line can go"
    for path in layers.long:
        if path not in tree.paths:
            yield path, 0, "length", "has a `long` line and is not there"


def check_registered(tree, layers):
    """Every source and every Python test is named by a CMakeLists.txt, every example by a test or script."""
    named = set()
    for path in tree.paths:
        if not path.endswith("CMakeLists.txt"):
            continue
        folder = tree.root.resolve() / pathlib.PurePosixPath(path).parent
        if re.search(r"file\s*\(\s*GLOB", tree.text(path), re.IGNORECASE):
            yield path, 0, "dead", "file(GLOB) hides what is built; list the sources"
        text = re.sub(r"#.*", "", tree.text(path))
        for word in re.findall(r"[^\s()\"]+\.(?:cc|c|py)\b", text):
            word = re.sub(r"^\$\{CMAKE_SOURCE_DIR\}", str(tree.root.resolve()), word)
            word = re.sub(r"^\$\{CMAKE_CURRENT_SOURCE_DIR\}/", "", word)
            named.add((folder / word).resolve())
    for path in tree.paths:
        if path.startswith("examples/"):
            continue
        is_test = path.startswith("tests/") and re.search(r"(_test\.py|/test_[^/]*\.py)$", path)
        if (path.endswith((".cc", ".c")) or is_test) and (tree.root.resolve() / path) not in named:
            yield path, 0, "dead", "no CMakeLists.txt lists it"
    users = "\n".join(tree.text(p) or "" for p in tree.paths if p.startswith(("tests/", "scripts/")))
    for example in sorted({p.split("/")[1] for p in tree.paths if re.match(r"examples/[^/]+/", p)}):
        if example not in users:
            yield f"examples/{example}", 0, "dead", "no test and no script runs it"


def check_readmes(tree, layers):
    for folder in sorted({p.split("/")[0] for p in tree.paths if "/" in p}):
        if not folder.startswith(".") and f"{folder}/README.md" not in tree.paths:
            yield folder, 0, "readme", "the folder has no README.md"


PLACES = [
    (re.compile(r"(?<![\w./\-~}>)])/(work|root|home/\w+)(?![\w\-])"), "path of one machine"),
    (re.compile(r"(?<![\w.])(10\.\d{1,3}|192\.168|172\.(1[6-9]|2\d|3[01])|169\.254|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))"
                r"\.\d{1,3}\.\d{1,3}(?![\w.]*\d)"), "private address"),
]


def check_places(tree, layers):
    """No path, no address of somebody's machine in what is committed (192.0.2.0/24 and loopback are fine)."""
    for path in tree.paths:
        text = tree.text(path)
        for regex, what in PLACES if text is not None else []:
            for number, match in lines_matching(text, regex):
                yield path, number, "place", f"{what}: {match.group(0)}"


FIELD = re.compile(r"^\s*(?:rpc\s+\w+\s*\(|(?:repeated\s+|optional\s+)?[\w.]+\s+\w+\s*=\s*\d+)")


def check_proto_comments(tree, layers):
    """Every field and every rpc has a comment above it or on its line. Enum values and options are not looked at."""
    for path in tree.paths:
        if not path.endswith(".proto"):
            continue
        before = ""
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            if FIELD.match(line) and "//" not in line and not before.lstrip().startswith("//"):
                yield path, number, "proto", f"no comment says what this is: {line.strip()}"
            before = line


RULES = [check_includes, check_homes, check_bans, check_names, check_length, check_registered, check_readmes,
         check_places, check_proto_comments]


def check(root):
    """All faults of the tree at `root` as (path, line, rule, text)."""
    tree = Tree(root)
    if "docs/layers.txt" not in tree.paths:
        return [("docs/layers.txt", 0, "layers", "is missing")]
    layers = Layers(tree.text("docs/layers.txt"))
    faults = list(layers.faults)
    for rule in RULES:
        faults.extend(rule(tree, layers))
    return faults


def main(argv):
    if len(argv) != 2:
        print("usage: tidy.py ROOT", file=sys.stderr)
        return 64
    faults = check(argv[1])
    for path, line, rule, text in sorted(faults):
        print(f"{path}:{line}: [{rule}] {text}")
    print(f"tidy: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
