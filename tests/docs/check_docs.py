"""Fails when a document names something that does not exist.

Checked in every Markdown page of the repository: links to pages, pictures and headings; source files named in code spans, such as
`sim/energy/barrier.h`, `tests/arrows` or `sim/mesh/read_*.cc` (NAME stands for any name: `sim/material/NAME.h`); members of classes,
such as NewtonSolver::Solve, code blocks included; in pages with numbered equations, that the numbers count up from 1 and that none is
repeated. That docs/README.md links every page under docs/, and docs/decisions/README.md every record. That the table of
studies in docs/concepts/validation.md has every study of tests/validate and no other. That every page of results says in line 3 that a
command wrote it, as tests/validate/page.py does. In every other text file: mentions of pages under docs/, and citations of the theory page as
"theory.md, eq. 12" or "theory.md, section 8". The CHANGELOG describes past versions, so only its links are checked.

usage: check_docs.py REPOSITORY
"""

from __future__ import annotations

import itertools
import os
import pathlib
import re
import sys

FOLDERS = ("sim", "server", "client", "tests", "tools", "models", "proto", "docs", "docker", "scripts", "cmake", "viewer")
SKIPPED = {"build", "out", ".git", "venv", "__pycache__", "node_modules"}
TEXT = {".h", ".cc", ".py", ".txt", ".proto", ".cmake", ".yaml", ".yml", ".sh", ".json", ".textproto", ".ts", ".mjs", ""}
LINK = re.compile(r"!?\[[^\]\n]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^ *(```+|~~~+).*?^ *\1", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"(?<![\w./-])(?:%s)/[\w./*{},+-]*[\w}*/]" % "|".join(FOLDERS))
PAGE = re.compile(r"(?<![\w./-])docs/[\w./-]+\.(?:md|png)")
EQUATION = re.compile(r"theory\.md,\s+(?://\s*|#\s*)?eqs?\.\s+(?://\s*|#\s*)?(\d+)")
SECTION = re.compile(r"theory\.md,\s+(?://\s*|#\s*)?sections?\s+(?://\s*|#\s*)?(\d+)")
HEADING = re.compile(r"^## (\d+)\.", re.MULTILINE)
MEMBER = re.compile(r"(?<![\w:])[A-Z]\w*::\w+")
THEORY = pathlib.Path("docs/concepts/theory.md")
TAG = re.compile(r"\\tag\{(\d+)\}")
VALIDATION = pathlib.Path("docs/concepts/validation.md")
STUDY = re.compile(r'^NAME = "(\w+)"', re.MULTILINE)
STUDY_ROW = re.compile(r"^\| (`\w+`(?:, `\w+`)*) \|", re.MULTILINE)
WRITTEN = re.compile(r"Written by `(?:[A-Z_]+=\S+ )*\./dev .*from its own runs; nothing here is typed in\.")


def files(root: pathlib.Path):
    """All files of the tree, less build outputs."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - SKIPPED)
        for name in sorted(names):
            yield pathlib.Path(folder, name)


def slug(heading: str) -> str:
    """The anchor that GitHub makes of a heading."""
    kept = re.sub(r"[^\w\- ]", "", re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip()).lower())
    return kept.replace(" ", "-")


def anchors(page: pathlib.Path) -> set[str]:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return {slug(heading) for heading in re.findall(r"^#+ +(.+)$", text, re.MULTILINE)}


def alternatives(path: str) -> list[str]:
    """a.{h,cc} as a.h and a.cc."""
    parts = re.split(r"\{([^{}]*)\}", path)
    choices = [part.split(",") if k % 2 else [part] for k, part in enumerate(parts)]
    return ["".join(choice) for choice in itertools.product(*choices)]


def exists(root: pathlib.Path, path: str) -> bool:
    if "NAME" in path:
        return True
    return any(root.glob(path.rstrip("/")))


def link_problem(page: pathlib.Path, target: str) -> str | None:
    if re.match(r"[a-z]+:", target):
        return None
    name, _, anchor = target.partition("#")
    file = (page.parent / name) if name else page
    if not file.exists():
        return f"links to {target}, which does not exist"
    if anchor and file.suffix == ".md" and anchor not in anchors(file):
        return f"links to {target}, but {file.name} has no such heading"
    return None


def source_names(root: pathlib.Path) -> set[str]:
    """Every identifier of the C++ sources, those in comments left out."""
    names: set[str] = set()
    for path in files(root):
        if path.suffix in {".h", ".cc"}:
            names.update(re.findall(r"[A-Za-z_]\w*", re.sub(r"//.*", "", path.read_text(encoding="utf-8"))))
    return names


def page_problems(root: pathlib.Path, page: pathlib.Path, names: set[str]) -> list[str]:
    text = page.read_text(encoding="utf-8")
    prose = FENCE.sub("", text)
    found = [link_problem(page, target) for target in LINK.findall(prose)]
    if page.name != "CHANGELOG.md":
        for span in SPAN.findall(prose):
            for path in PATH.findall(span):
                found += [f"names {one}, which does not exist" for one in alternatives(path) if not exists(root, one)]
        found += [f"names {member}, which no source has" for member in MEMBER.findall(text) if not names.issuperset(member.split("::"))]
    tags = [int(number) for number in TAG.findall(text)]
    if tags and tags != list(range(1, len(tags) + 1)):
        found.append(f"numbers its equations {tags}, not 1 to {len(tags)} in order")
    return [problem for problem in found if problem]


def linked_pages(index: pathlib.Path) -> set[pathlib.Path]:
    """The Markdown pages that a page links to."""
    targets = [target.partition("#")[0] for target in LINK.findall(index.read_text(encoding="utf-8"))]
    return {(index.parent / target).resolve() for target in targets if target.endswith(".md") and "://" not in target}


def index_problems(root: pathlib.Path) -> list[str]:
    """Pages that neither their index lists nor a page of results that it lists, such as the summary of a study of many parts."""
    out = []
    for index, pages in (("docs/README.md", (root / "docs").rglob("*.md")), ("docs/decisions/README.md", (root / "docs/decisions").glob("*.md"))):
        if not (root / index).exists():
            continue
        listed = linked_pages(root / index)
        for page in [p for p in listed if p.parent == (root / "docs/results").resolve() and p.exists()]:
            listed |= linked_pages(page)
        for page in sorted(pages):
            name = page.relative_to(root)
            is_record = name.parts[:2] == ("docs", "decisions") and name.name != "README.md"
            if str(name) != index and is_record == (index == "docs/decisions/README.md") and page.resolve() not in listed:
                out.append(f"{index}: does not list {name}")
    return out


def study_problems(root: pathlib.Path) -> list[str]:
    """Differences between the studies and the table that describes them."""
    if not (root / VALIDATION).exists():
        return []
    studies = {name for path in (root / "tests/validate").glob("study_*.py") for name in STUDY.findall(path.read_text(encoding="utf-8"))}
    section = (root / VALIDATION).read_text(encoding="utf-8").partition("\n## Studies\n")[2].partition("\n## ")[0]
    rows = {name for cell in STUDY_ROW.findall(section) for name in re.findall(r"\w+", cell)}
    return ([f"{VALIDATION}: has no row for the study {name}" for name in sorted(studies - rows)]
            + [f"{VALIDATION}: has a row for {name}, which is no study" for name in sorted(rows - studies)])


def result_problems(root: pathlib.Path) -> list[str]:
    """Pages of results that do not say which command wrote them."""
    out = []
    for page in sorted((root / "docs/results").glob("*.md")):
        lines = page.read_text(encoding="utf-8").splitlines()
        if len(lines) <= 2 or WRITTEN.match(lines[2]) is None:
            out.append(f"{page.relative_to(root)}: does not say in line 3 which command wrote it")
    return out


def problems(root: pathlib.Path) -> list[str]:
    out = index_problems(root) + study_problems(root) + result_problems(root)
    theory = root / THEORY
    text = theory.read_text(encoding="utf-8") if theory.exists() else ""
    equations, sections = set(TAG.findall(text)), set(HEADING.findall(text))
    names = source_names(root)
    for path in files(root):
        name = path.relative_to(root)
        if path.suffix == ".md":
            out += [f"{name}: {problem}" for problem in page_problems(root, path, names)]
        elif path.suffix in TEXT and name.parts[:2] != ("tests", "docs"):
            try:
                text = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
            out += [f"{name}: names {page}, which does not exist" for page in PAGE.findall(text) if not (root / page).exists()]
            out += [f"{name}: cites equation {number}, which {THEORY} does not have" for number in EQUATION.findall(text)
                    if number not in equations]
            out += [f"{name}: cites section {number}, which {THEORY} does not have" for number in SECTION.findall(text)
                    if number not in sections]
    return out


def main(argv: list[str]) -> int:
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    found = problems(pathlib.Path(argv[1]))
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
