#!/usr/bin/python3
"""The limits of size that keep the sources readable: lines of a file and of a function, parameters, data members of a class.

    check_limits.py ROOT        checks sim/, server/, client/cpp/ and tools/ against LIMITS
    check_limits.py --self-test checks that planted violations are found

What is over a limit for a reason is listed in exceptions.tsv beside this file: path, what (file, or the name of a function or a class),
its present size, and the reason. A size may shrink below the one listed, not grow above it; an exception that is not needed any more is
an error, so the list never outlives its reasons.

The sources are formatted by clang-format, so a definition outside a class begins in the first column and ends with a lone brace there.
"""

from __future__ import annotations

import csv
import re
import sys
import tempfile
from pathlib import Path
from typing import Iterator, NamedTuple

FOLDERS = ("sim", "server", "client/cpp", "tools")
LIMITS = {"lines of the file": 400, "lines of the function": 80, "parameters": 6, "data members": 20}
EXCEPTIONS = Path(__file__).with_name("exceptions.tsv")

FUNCTION = re.compile(r"^(?!namespace|class|struct|enum|union|extern|using|constexpr|const [A-Z]\w+ k|static |inline constexpr|#|//|\}|\s)")
NAME = re.compile(r"([~\w:]+|operator\S+)\s*\($")
MEMBER = re.compile(r"^  (?:mutable |const |static )*[\w:<>,*&\s().\[\]-]+?[\s*&](\w+_)(?:\s*(?:=[^;]*|\{[^;]*\}))?(?:, \w+_)*;")


class Found(NamedTuple):
    path: str
    name: str
    what: str
    size: int


def functions(lines: list[str]) -> Iterator[tuple[str, str, int]]:
    """(name, signature, lines) of every function that is defined outside a class."""
    start = None
    for i, line in enumerate(lines):
        if start is None and FUNCTION.match(line) and "(" in line:
            start = i
        if start is None:
            continue
        if line == "}" or (i == start and line.rstrip().endswith("}")):
            text = "\n".join(lines[start : i + 1])
            signature = text.split(") {")[0] if ") {" in text else text.split("{")[0]
            name = re.search(r"([~\w:]+)\(", signature)
            if name:
                yield name.group(1), signature, i - start + 1
            start = None
        elif line.rstrip().endswith(";") and "{" not in "\n".join(lines[start : i + 1]):
            start = None  # a declaration


def parameters(signature: str) -> int:
    """Of the first parameter list."""
    depth, count, inside = 0, 0, False
    begin = re.search(r"[~\w:]+\(", signature)
    for c in signature[begin.end() :] if begin else "":
        if c in "(<[{":
            depth += 1
        elif c in ")>]}":
            if depth == 0:
                break
            depth -= 1
        elif c == "," and depth == 0:
            count += 1
        inside = inside or not c.isspace()
    return count + 1 if inside else 0


def classes(lines: list[str]) -> Iterator[tuple[str, int]]:
    """(name, data members) of every class and struct of the first column, without those of classes inside it."""
    name = None
    members = 0
    for line in lines:
        begin = re.match(r"^(?:class|struct) (\w+)[^;]*\{$", line)
        if begin:
            name, members = begin.group(1), 0
        elif name and line == "};":
            yield name, members
            name = None
        elif name:
            found = MEMBER.match(line)
            if found and "(" not in line.split(found.group(1))[0].replace("std::function<", ""):
                members += len(re.findall(r"\w+_(?=[,;\s={])", line.split("//")[0]))


def measure(path: str, text: str) -> Iterator[Found]:
    lines = text.splitlines()
    yield Found(path, "file", "lines of the file", len(lines))
    for name, signature, size in functions(lines):
        yield Found(path, name, "lines of the function", size)
        yield Found(path, name, "parameters", parameters(signature))
    for name, members in classes(lines):
        yield Found(path, name, "data members", members)


def over_limits(root: Path) -> list[Found]:
    found = []
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".h", ".cc"):
                text = file.read_text()
                found += [f for f in measure(str(file.relative_to(root)), text) if f.size > LIMITS[f.what]]
    return found


def check(root: Path, exceptions: dict[tuple[str, str, str], tuple[int, str]]) -> list[str]:
    problems = []
    used = set()
    for f in over_limits(root):
        key = (f.path, f.name, f.what)
        allowed = exceptions.get(key)
        if allowed:
            used.add(key)
        if not allowed:
            problems.append(f"{f.path}: {f.name}: {f.size} {f.what}, at most {LIMITS[f.what]}")
        elif f.size > allowed[0]:
            problems.append(f"{f.path}: {f.name}: {f.size} {f.what}, at most {allowed[0]} by its exception")
    problems += [f"{EXCEPTIONS.name}: {' '.join(key)}: is within the limit now; remove the exception" for key in exceptions if key not in used]
    return problems


def read_exceptions(path: Path) -> dict[tuple[str, str, str], tuple[int, str]]:
    with path.open() as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    for row in rows:
        if not row["reason"]:
            raise SystemExit(f"{path.name}: {row['path']}: {row['name']}: an exception needs a reason")
    return {(row["path"], row["name"], row["what"]): (int(row["size"]), row["reason"]) for row in rows}


def self_test() -> list[str]:
    body = "".join("  ++x;\n" for _ in range(100))
    planted = ("class Wide {\n public:\n  int count() const { return a_; }\n\n private:\n" + "".join(f"  int m{i}_ = 0;\n" for i in range(21)) + "};\n\n"
               "void Long(int a, int b, int c, int d, int e, int f,\n          std::map<int, int> g) {\n  int x = 0;\n" + body + "}\n"
               "int Short(int a) { return a; }\n" + "// line\n" * 300)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sim").mkdir()
        (Path(folder) / "sim" / "planted.cc").write_text(planted)
        found = {(f.name, f.what, f.size) for f in over_limits(Path(folder))}
    expected = {("file", "lines of the file", len(planted.splitlines())), ("Long", "lines of the function", 104), ("Long", "parameters", 7),
                ("Wide", "data members", 21)}
    return [] if found == expected else [f"self-test: found {sorted(found)}, expected {sorted(expected)}"]


def main() -> int:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    problems = self_test() if sys.argv[1] == "--self-test" else check(Path(sys.argv[1]), read_exceptions(EXCEPTIONS))
    print("\n".join(problems) or "ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
