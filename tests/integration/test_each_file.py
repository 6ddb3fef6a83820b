# SPDX-License-Identifier: Apache-2.0
"""The check that each file compiles on its own: what is missing in one is found there."""

import pytest

from tests.each_file import Source, parse, read_each, to_read

USES = "inline std::vector<int> three() { return {1, 2, 3}; }\n"
VECTOR = "#include <vector>\n"
FLAGS = ("c++", "-Wall", "-Wextra", "-Werror", "-std=c++20")


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


class Tree:
    def __init__(self, root):
        self.root, self.sources = root, []

    def write(self, name, text):
        path = self.root / name
        path.write_text(text)
        if path.suffix == ".cc" and all(source.path != path for source in self.sources):
            flags = (*FLAGS, f"-I{self.root}")
            self.sources.append(Source(path, flags))
        return path

    def chosen(self):
        files = sorted(path for path in self.root.iterdir() if path.suffix in (".cc", ".h"))
        return to_read(files, self.sources)

    def read(self, chosen):
        return read_each(self.root / "each", chosen, self.root)


def names(chosen):
    return [path.name for path in chosen]


def test_an_include_that_a_source_lacks_is_found(tree, capfd):
    tree.write("good_test.cc", VECTOR + USES)
    tree.write("bad_test.cc", USES)
    assert tree.read(tree.chosen()) != 0
    said = "".join(capfd.readouterr())
    assert "bad_test.cc:1" in said
    assert "vector" in said
    assert "good_test.cc:1" not in said
    tree.write("bad_test.cc", VECTOR + USES)
    assert tree.read(tree.chosen()) == 0


def test_an_include_that_a_header_lacks_is_found_though_every_source_has_it(tree, capfd):
    header = tree.write("three.h", "#pragma once\n" + USES)
    tree.write("user.cc", VECTOR + '#include "three.h"\nint main() { return three()[0]; }\n')
    assert names(tree.chosen()) == ["three.h", "user.cc"]
    assert tree.read(tree.chosen()) != 0
    assert "three.h:2" in "".join(capfd.readouterr())
    header.write_text("#pragma once\n" + VECTOR + USES)
    assert tree.read(tree.chosen()) == 0


def test_a_header_that_a_source_includes_first_is_not_read_again(tree):
    tree.write("three.h", "#pragma once\n" + VECTOR + USES)
    tree.write("three.cc", '#include "three.h"\n')
    assert names(tree.chosen()) == ["three.cc"]


def test_what_is_asserted_is_read_with_assertions_and_without(tree, capfd):
    source = tree.write("asserts.cc", "#include <cassert>\nvoid f(int i) { assert(j); (void)i; }\n")
    assert tree.read(tree.chosen()) != 0
    assert "asserts.cc:2" in "".join(capfd.readouterr())
    source.write_text("#include <cassert>\nvoid f() { const int i = 3; assert(i); }\n")
    assert tree.read(tree.chosen()) != 0, "a release does not use it"
    assert "unused variable" in "".join(capfd.readouterr())
    source.write_text("#include <cassert>\nvoid f(int i) { assert(i); (void)i; }\n")
    assert tree.read(tree.chosen()) == 0


def test_flags_of_a_command():
    source = parse({"file": "/a/b c.cc", "directory": "/build",
                    "command": "c++ -I'/a b' -O2 -DX=1 -mavx2 -o d/b.o -c '/a/b c.cc'"})
    assert source.flags == ("c++", "-I/a b", "-DX=1", "-mavx2")


def test_a_header_that_nothing_includes_is_named(tree):
    tree.write("lost.h", "#pragma once\n")
    with pytest.raises(SystemExit, match=r"lost\.h"):
        tree.chosen()
