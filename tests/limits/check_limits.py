#!/usr/bin/python3
"""The limits of size that keep the sources readable: lines of a file and of a function, parameters, data members of a class.

    check_limits.py ROOT        checks sim/, server/, client/cpp/ and tools/ against LIMITS
    check_limits.py --self-test checks that planted violations are found

What is over a limit for a reason is listed in exceptions.tsv beside this file: path, what (file, or the name of a function or a class),
its present size, and the reason. A size may shrink below the one listed, not grow above it; an exception that is not needed any more is
an error, so the list never outlives its reasons.

A function is any definition in a namespace or in a class, static, constexpr, template and inline ones among them; the lambdas inside it
are part of it. Data members are those of objects: static ones and nested types do not count.
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

NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![\w])\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*',
                   re.DOTALL | re.MULTILINE)
ACCESS = re.compile(r"^\s*(?:public|protected|private)\s*:(?!:)")
TEMPLATE = re.compile(r"^\s*template\s*<(?:[^<>]|<[^<>]*>)*>\s*(?:requires [^\n]*\n)?")
CLASS = re.compile(r"^(?:class|struct|union)\b(?:\s*\[\[[^\]]*\]\]|\s+alignas\([^)]*\))?\s*([\w:]*)")
NO_MEMBER = re.compile(r"^(?:using|friend|static|typedef|enum|class|struct|union|extern|template)\b")
INITIALIZED = re.compile(r"\)[^()]*(?<!:):(?!:).*[\w>]$", re.DOTALL)  # a constructor, up to a member that braces initialize


class Found(NamedTuple):
    path: str
    name: str
    what: str
    size: int


def plain(text: str) -> str:
    """The text with comments, literals and preprocessor lines blanked out; places and lines stay."""
    return NOISE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()) if found.group()[0] in "/#\t " else re.sub(r"[^\n]", "0", found.group()), text)


def outside(text: str) -> str:
    """What stands outside of all brackets; a bracket that is left open at the end does not count."""
    out, depth = [], 0
    for k, c in enumerate(text):
        if c in ")]}" or (c == ">" and text[k - 1 : k] != "-"):
            depth = max(0, depth - 1)
        out.append(c if depth == 0 else "")
        if c in "([{" or (c == "<" and not text[:k].rstrip().endswith("operator")):
            depth += 1
    return "".join(out)


def parameters(header: str) -> int:
    """Of the first parameter list."""
    depth, count, inside = 0, 0, False
    for k, c in enumerate(header):
        if c in "(<[{" and not header[:k].rstrip().endswith("operator"):
            depth += 1
            if depth == 1 and c != "(":
                depth += 100  # template arguments, and not the list
        elif c in ")]}" or (c == ">" and header[k - 1] != "-"):
            depth -= 1
            if depth == 100:
                depth = 0
            elif depth == 0 and c == ")":
                break
        elif c == "," and depth == 1:
            count += 1
        inside = inside or (0 < depth < 100 and c not in "( \n")
    return count + 1 if inside else 0


def is_function(header: str) -> bool:
    if header.count("(") != header.count(")"):  # the braces are those of a default argument
        return False
    bare = outside(header)
    return "(" in bare and ("operator" in bare or "=" not in bare.split("(")[0]) and bare[: bare.index("(")].strip() != ""


def members(statement: str) -> int:
    """How many data members a statement of a class declares."""
    statement = statement.strip()
    if not statement or NO_MEMBER.match(statement) or "operator" in statement:
        return 0
    if re.search(r"\(\s*(?:\w+::)?\*", statement):  # a pointer to a function
        return 1
    if re.fullmatch(r"\w+", statement):  # of the class that ends before it
        return 1
    bare = re.split(r"=", outside(statement))[0] if "," not in outside(statement) else outside(statement)
    return 0 if "(" in bare or not re.search(r"\w[\s*&<>]+\w", bare) else 1 + bare.count(",")


class Block(NamedTuple):
    kind: str  # namespace, class, function or other
    name: str
    header: str
    first: int  # line


class Scan:
    """Reads a file once, brace by brace."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._blocks: list[Block] = []
        self._members: list[int] = []  # of the classes that are open
        self._from = 0
        self._keep = False  # the header goes on after the braces that end now
        self.found: list[Found] = []

    def read(self, text: str) -> list[Found]:
        text = plain(text)
        for at, c in enumerate(text):
            if c == "{":
                self._open(text, at)
            elif c == "}":
                self._close(text, at)
            elif c == ";" and not self._in_code():
                if self._in_class():
                    self._members[-1] += members(self._header(text, at))
                self._from = at + 1
        return self.found

    def _in_code(self) -> bool:
        return any(block.kind in ("function", "other") for block in self._blocks)

    def _in_class(self) -> bool:
        return bool(self._blocks) and self._blocks[-1].kind == "class"

    def _header(self, text: str, end: int) -> str:
        header = text[self._from : end]
        while ACCESS.match(header):
            header = ACCESS.sub("", header)
        return header

    def _open(self, text: str, at: int) -> None:
        header = self._header(text, at)
        bare = TEMPLATE.sub("", header).strip()
        line = text.count("\n", 0, at - len(header.lstrip())) + 1
        if self._in_code():
            return self._blocks.append(Block("other", "", "", 0))
        found = CLASS.match(bare)
        if re.match(r"^(?:inline )?namespace\b|^extern 0", bare):
            block = Block("namespace", "", "", 0)
        elif found and "(" not in outside(bare) and "=" not in outside(bare):
            block = Block("class", found.group(1), "", line)
            self._members.append(0)
        elif is_function(bare) and not INITIALIZED.search(bare):
            block = Block("function", re.search(r"(~?[\w:~]+|operator[^(]*)\s*$", outside(bare).split("(")[0]).group(1), bare, line)
        else:
            return self._blocks.append(Block("other", "", "", 0))
        self._blocks.append(block)
        self._from = at + 1

    def _close(self, text: str, at: int) -> None:
        block = self._blocks.pop()
        if block.kind == "other" or self._in_code():
            return
        self._from = at + 1
        if block.kind == "class":
            self.found.append(Found(self._path, block.name, "data members", self._members.pop()))
        if block.kind == "function":
            name = "::".join([b.name for b in self._blocks if b.kind == "class"] + [block.name])
            self.found.append(Found(self._path, name, "lines of the function", text.count("\n", 0, at) + 2 - block.first))
            self.found.append(Found(self._path, name, "parameters", parameters(block.header)))


def measure(path: str, text: str) -> Iterator[Found]:
    yield Found(path, "file", "lines of the file", len(text.splitlines()))
    yield from Scan(path).read(text)


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


def planted() -> tuple[str, set[tuple[str, str, int]]]:
    """A source with a violation of each kind, and what is to be found in it."""
    body = "".join("  ++x;\n" for _ in range(100))
    inner = "".join("    ++x;\n" for _ in range(90))
    parts = [
        ("class Wide {\n public:\n  int count() const { return a_; }\n\n private:\n" + "".join(f"  int m{i}_ = 0;\n" for i in range(21)) + "};\n", []),
        ("struct Plain {\n" + "".join(f"  std::vector<int> m{i};  // not {{ one\n" for i in range(10)) + "  double a = 1, b = 2, c{3};\n  int d[4] = {1, 2};\n"
         + "  std::function<void(int, int)> e;\n  bool (*f)(int a, int b) = nullptr;\n" + "".join(f"  T n{i}{{1 << {i}}};\n" for i in range(6))
         + "  static int s;\n  using T = int;\n  enum class E { k1, k2 };\n  struct Inner {\n    int i = 0;\n  } g;\n  int Call(int a) const;\n"
         + "  bool operator==(const Plain& o) const = default;\n};\n", [("Plain", "data members", 23)]),
        ("void Long(int a, int b, int c, int d, int e, int f,\n          std::map<int, int> g) {\n  int x = 0;\n" + body + "}\n",
         [("Long", "lines of the function", 104), ("Long", "parameters", 7)]),
        ("namespace a {\nstatic void Hidden(int a) {\n  const char* s = \"}\";  // }\n" + body + "}\n}  // namespace a\n",
         [("Hidden", "lines of the function", 103)]),
        ("template <typename T>\nconstexpr int Wider(T a, T b, T c, T d, T e, T f, T g = {1, 2}) {\n  return 0;\n}\n", [("Wider", "parameters", 7)]),
        ("class Inline {\n public:\n  void Run(std::array<int, 7> a) {\n    const auto f = [](int a, int b, int c, int d, int e, int f, int g) { return a; };\n" + inner
         + "  }\n};\n", [("Inline::Run", "lines of the function", 93)]),
        ("Made::Made(int a, int b, int c, int d, int e, int f, int g)\n    : a_(a), b_{b, c}, d_(d) {\n" + body + "}\n",
         [("Made::Made", "lines of the function", 103), ("Made::Made", "parameters", 7)]),
        ("bool operator<(const Plain& a, const Plain& b) { return a.d < b.d; }\nconstexpr int kList[] = {1, 2, 3};\nint Short(int a) { return a; }\n", []),
    ]
    text = "".join(part for part, _ in parts) + "// line\n" * 300
    found = {expected for _, all_expected in parts for expected in all_expected}
    return text, found | {("Wide", "data members", 21), ("file", "lines of the file", len(text.splitlines()))}


def self_test() -> list[str]:
    text, expected = planted()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sim").mkdir()
        (Path(folder) / "sim" / "planted.cc").write_text(text)
        found = {(f.name, f.what, f.size) for f in over_limits(Path(folder))}
    return [f"self-test: {'found' if one in found else 'missed'} {one}" for one in sorted(found ^ expected)]


def main() -> int:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    problems = self_test() if sys.argv[1] == "--self-test" else check(Path(sys.argv[1]), read_exceptions(EXCEPTIONS))
    print("\n".join(problems) or "ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
