"""Plants each kind of fault in a small tree and looks for exactly it."""

import pathlib
import tempfile
import unittest

import tidy

LAYERS = """# a comment

layer | base |
layer | matrix reports | base
layer | matrix/store | base matrix
layer | app | base matrix matrix/store
layer | tests | *
layer | examples |
home | sqlite3.h | matrix/store
home | grpcpp/* pyptox/v1/*.grpc.pb.h | app
home | gtest/* | tests
ban | matrix reports | std::chrono::\\w+_clock\\b | clock
ban | matrix reports | (?<![\\w.>:])(std::)?time\\s*\\( | clock
ban | base matrix | \\b(strcpy|strcat)\\s*\\( | unsafe function
word | util helper
"""

GOOD = {
    "docs/layers.txt": LAYERS,
    "docs/README.md": "Use 127.0.0.1, ::1 or 192.0.2.7; put it under ~/work or $HOME/root/work/x.\n",
    "base/README.md": "base\n",
    "base/CMakeLists.txt": "pyptox_library(pyptox_base SOURCES a.cc ${CMAKE_CURRENT_SOURCE_DIR}/b.cc)\n",
    "base/a.h": "#include <string>\n",
    "base/a.cc": '#include "base/a.h"\n#include "absl/status/status.h"\n',
    "base/b.cc": "// strcpy(a, b) in a comment\nconst char* kText = \"strcpy(\";\n",
    "matrix/README.md": "matrix\n",
    "matrix/CMakeLists.txt": "add_library(m cell.cc store/store.cc)\n",
    "matrix/cell.h": "",
    "matrix/cell.cc": '#include "base/a.h"\n#include "matrix/cell.h"\n#include "pyptox/v1/record.pb.h"\n'
                      "int timeout(int); int x = record.time() + timeout(3);\n",
    "matrix/store/store.cc": '#include "matrix/cell.h"\n#include <sqlite3.h>\nauto t = std::chrono::system_clock::now();\n',
    "tests/README.md": "tests\n",
    "tests/CMakeLists.txt": "pyptox_test(t SOURCES unit/matrix/store/store_test.cc)\nadd_test(NAME p COMMAND python3 "
                            "${CMAKE_SOURCE_DIR}/tests/run_test.py)\n",
    "tests/unit/matrix/store/store_test.cc": '#include "base/a.h"\n#include "sqlite3.h"\n#include <gtest/gtest.h>\n',
    "tests/run_test.py": "run('examples/demo')\n",
    "tests/support.py": "",
    "proto/README.md": "proto\n",
    "proto/pyptox/v1/x.proto": """syntax = "proto3";
enum E {
  E_UNSPECIFIED = 0;
}
message M {
  // Bytes.
  uint64 size = 1;
  string name = 2;  // Unique.
  oneof body {
    // Degrees.
    pyptox.v1.E e = 3 [(required) = true];
  }
}
service S {
  // NOT_FOUND.
  rpc Get(M) returns (stream M);
}
""",
    "examples/README.md": "examples\n",
    "examples/demo/kernel.c": '#include "own.h"\n',
    "examples/demo/own.h": "",
    ".ci/run": "#!/bin/sh\n",
}


class TidyTest(unittest.TestCase):
    def faults(self, **changes):
        """Faults of the good tree with files changed: a text replaces, None removes."""
        with tempfile.TemporaryDirectory() as folder:
            for path, text in {**GOOD, **{k: v for k, v in changes.get("files", {}).items()}}.items():
                if text is None:
                    continue
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(text if isinstance(text, bytes) else text.encode())
            return sorted(tidy.check(folder))

    def plant(self, path, text, line, rule, part, at=None):
        faults = self.faults(files={path: text})
        self.assertEqual([f[:3] for f in faults], [(at or path, line, rule)], faults)
        self.assertIn(part, faults[0][3])

    def append(self, path, text, rule, part):
        self.plant(path, GOOD[path] + text, (GOOD[path] + text).count("\n"), rule, part)

    def test_the_good_tree_is_good(self):
        self.assertEqual(self.faults(), [])

    def test_arrows(self):
        self.append("base/a.cc", '#include "matrix/cell.h"\n', "arrow", "base may not include matrix")
        self.append("matrix/cell.cc", '#  include "matrix/store/store.cc"\n', "arrow", "may not include matrix/store")
        self.append("matrix/cell.cc", '#include <base/a.cc>\n#include "tests/support.py"\n', "arrow", "tests")

    def test_a_folder_without_a_layer(self):
        faults = self.faults(files={"odd/README.md": "odd\n", "odd/x.h": ""})
        self.assertEqual([f[:3] for f in faults], [("odd/x.h", 1, "arrow")])

    def test_includes_exist_and_start_at_the_root(self):
        self.append("base/a.cc", '#include "base/gone.h"\n', "include", "does not exist")
        self.append("base/a.cc", '#include "a.h"\n', "include", "relative to the root")

    def test_homes(self):
        self.append("base/a.cc", "#include <sqlite3.h>\n", "home", "matrix/store only")
        self.append("base/a.cc", '#include "grpcpp/server.h"\n', "home", "app only")
        self.append("matrix/cell.cc", '#include "pyptox/v1/job.grpc.pb.h"\n', "home", "app only")
        self.append("matrix/cell.cc", "#include <gtest/gtest.h>\n", "home", "tests only")
        self.append("tests/unit/matrix/store/store_test.cc", "#include <grpcpp/grpcpp.h>\n", "home", "app only")

    def test_bans(self):
        self.append("matrix/cell.cc", "auto t = std::chrono::steady_clock::now();\n", "ban", "clock")
        self.append("matrix/cell.cc", "auto t = time(nullptr);\n", "ban", "'time('")
        self.append("base/b.cc", "/* two\nlines */ strcpy(a, b);\n", "ban", "unsafe function")
        self.append("base/b.cc", "char c = '\"'; strcat(a, b);\n", "ban", "unsafe function")

    def test_names(self):
        for name in ("base/string_util.h", "base/helper.h", "docs/util/x.md"):
            self.plant(name, "", 0, "name", "says nothing")

    def test_length(self):
        self.plant("base/a.h", "\n" * 501, 501, "length", "501 lines")
        self.assertEqual(self.faults(files={"base/a.h": "\n" * 500}), [])
        long = LAYERS + "long | base/a.h | one table\n"
        self.assertEqual(self.faults(files={"base/a.h": "\n" * 501, "docs/layers.txt": long}), [])
        self.plant("docs/layers.txt", long, 1, "length", "can go", at="base/a.h")
        self.plant("docs/layers.txt", LAYERS + "long | gone.h | x\n", 0, "length", "is not there", at="gone.h")

    def test_dead_files(self):
        self.plant("base/dead.cc", "", 0, "dead", "no CMakeLists.txt lists it")
        self.plant("tests/unit/base/a_test.cc", "", 0, "dead", "no CMakeLists.txt lists it")
        self.plant("tests/other_test.py", "", 0, "dead", "no CMakeLists.txt lists it")
        self.plant("tests/test_other.py", "", 0, "dead", "no CMakeLists.txt lists it")
        self.plant("tests/CMakeLists.txt", GOOD["tests/CMakeLists.txt"] + "file( GLOB x *.h)\n", 0, "dead", "GLOB")
        self.plant("examples/unused/suite.yaml", "", 0, "dead", "no test and no script", at="examples/unused")

    def test_a_comment_registers_nothing(self):
        faults = self.faults(files={"base/c.cc": "", "base/CMakeLists.txt": GOOD["base/CMakeLists.txt"] + "# c.cc\n"})
        self.assertEqual([f[:3] for f in faults], [("base/c.cc", 0, "dead")])

    def test_readmes(self):
        self.plant("docs/README.md", None, 0, "readme", "no README.md", at="docs")

    def test_places(self):
        for place in ("/" + "work/main", "cd /" + "root", "'/" + "home/someone/x'", "192." + "168.1.7", "10." + "0.0.5:22",
                      "172." + "20.1.1", "100." + "64.3.4"):
            self.append("docs/README.md", place + "\n", "place", "")
        self.assertEqual(self.faults(files={"tests/data.bin": b"\0 /" + b"work/x"}), [])

    def test_proto_comments(self):
        path = "proto/pyptox/v1/x.proto"
        self.plant(path, GOOD[path].replace("  // Bytes.\n", ""), 6, "proto", "uint64 size = 1;")
        self.plant(path, GOOD[path].replace("  // Unique.", ""), 8, "proto", "string name = 2;")
        self.plant(path, GOOD[path].replace("    // Degrees.\n", ""), 10, "proto", "pyptox.v1.E e = 3")
        self.plant(path, GOOD[path].replace("  // NOT_FOUND.\n", ""), 15, "proto", "rpc Get")

    def test_layers_file(self):
        self.append("docs/layers.txt", "arrow | base | matrix\n", "layers", "unknown kind")
        self.append("docs/layers.txt", "layer | base | matrix\n", "layers", "base twice")
        self.append("docs/layers.txt", "ban | base | ( | x\n", "layers", "can't be read")
        self.assertEqual(self.faults(files={"docs/layers.txt": None})[0][:3], ("docs/layers.txt", 0, "layers"))


if __name__ == "__main__":
    unittest.main()
