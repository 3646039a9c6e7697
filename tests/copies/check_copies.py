"""Fails when copies of one inline function do not calculate alike.

Usage: check_copies.py BUILD_FOLDER

Each unit that calls an inline function or an instance of a template without inlining it has its own copy, and the linker keeps the first
that it comes to, in each program another one. Where units are compiled with other options of floating-point arithmetic, the copies
have other last bits, and so have the programs (docs/decisions/0041-one-arithmetic-for-shared-code.md). Compared are the copies in the
units of BUILD_FOLDER/compile_commands.json that have been built, those of tests left out.

Prints each function with the counts of its floating-point instructions, and the units. Exit status: 0 when all copies calculate alike,
1 when not, 2 when there is nothing to compare.
"""

from __future__ import annotations

import collections
import json
import re
import shlex
import struct
import subprocess
import sys
from pathlib import Path
from typing import Iterator, NamedTuple

GROUP = 17  # SHT_GROUP: sections that are kept or left out together, those of a function and of its variants for known arguments
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
ARITHMETIC = re.compile(r"\sv?(fn?m(?:add|sub)|mul|add|sub|div|sqrt|hadd|addsub)(?:132|213|231)?([sp][sd])\s")

Counts = tuple[tuple[str, int], ...]  # floating-point instructions of each kind


class Unit(NamedTuple):
    """One compiled source."""

    path: Path
    contracts: bool  # a product and a sum may become one instruction


def units(build: Path) -> list[Unit]:
    """The units that have been built."""
    found = []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        if "-o" not in words:
            continue
        path = Path(words[words.index("-o") + 1])
        if path.parts[0] in ("tests", "precompiled", "CMakeFiles") or not (build / path).is_file():
            continue
        modes = [word for word in words if word.startswith("-ffp-contract=")]
        found.append(Unit(path, not modes or modes[-1] != "-ffp-contract=off"))
    return found


class Copy(NamedTuple):
    """What a unit has of a function of which the linker keeps one copy."""

    function: str
    sections: tuple[str, ...]
    code: tuple[bytes, ...]


def copies(path: Path) -> Iterator[Copy]:
    """Those of an object file (ELF of 64 bits)."""
    data = path.read_bytes()
    (offset,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    if count == 0:  # more than fit: the first header has the numbers
        first = SECTION.unpack_from(data, offset)
        count, names = first[5], first[6] if names == 0xFFFF else names
    headers = [SECTION.unpack_from(data, offset + k * size) for k in range(count)]

    def text(table: int, at: int) -> str:
        start = headers[table][4] + at
        return data[start : data.index(b"\0", start)].decode()

    for _, kind, _, _, at, length, symbols, signature, _, _ in headers:
        if kind != GROUP:
            continue
        symbol = SYMBOL.unpack_from(data, headers[symbols][4] + signature * SYMBOL.size)
        members = [headers[k] for k in struct.unpack_from(f"<{length // 4}I", data, at)[1:]]
        named = [(text(names, member[0]), data[member[4] : member[4] + member[5]]) for member in members]
        code = sorted(entry for entry in named if entry[0].startswith(".text."))
        if code:
            yield Copy(text(headers[symbols][6], symbol[0]), tuple(name for name, _ in code), tuple(part for _, part in code))


def arithmetic(path: Path, sections: set[str]) -> dict[str, collections.Counter[str]]:
    """How many floating-point instructions of each kind the sections have."""
    wanted = [word for section in sorted(sections) for word in ("-j", section)]
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", *wanted, str(path)], check=True, capture_output=True, text=True).stdout
    counts: dict[str, collections.Counter[str]] = {section: collections.Counter() for section in sections}
    section = ""
    for line in text.splitlines():
        if line.startswith("Disassembly of section "):
            section = line.removeprefix("Disassembly of section ").rstrip(":")
        elif found := ARITHMETIC.search(line):
            counts[section][found.group(1) + found.group(2)] += 1
    return counts


def comparable(variants: list[list[tuple[Unit, Copy]]]) -> bool:
    """Whether other instructions in these copies of a function mean other results."""
    modes = {unit.contracts for variant in variants for unit, _ in variant}
    # Without contraction, the same operations of the source have the same results however they are arranged. With it in all of them,
    # a difference may be that of what has become a variant of its own for known arguments, and need not be one of results.
    return len(modes) == 2 or (modes == {True} and len({variant[0][1].sections for variant in variants}) == 1)


def differing(build: Path, built: list[Unit]) -> dict[str, dict[Counts, list[Unit]]]:
    """Functions of which copies calculate differently: the units, by the instructions of their copies."""
    by_code: dict[str, dict[tuple[bytes, ...], list[tuple[Unit, Copy]]]] = collections.defaultdict(lambda: collections.defaultdict(list))
    for unit in built:
        for copy in copies(build / unit.path):
            by_code[copy.function][copy.code].append((unit, copy))
    suspects = {function: list(variants.values()) for function, variants in by_code.items() if len(variants) > 1}
    wanted: dict[Path, set[str]] = collections.defaultdict(set)
    for variants in suspects.values():
        for variant in variants:
            wanted[variant[0][0].path].update(variant[0][1].sections)
    counts = {path: arithmetic(build / path, sections) for path, sections in wanted.items()}
    found = {}
    for function, variants in suspects.items():
        by_counts: dict[Counts, list[Unit]] = collections.defaultdict(list)
        for variant in variants:
            unit, copy = variant[0]
            total = sum((counts[unit.path][section] for section in copy.sections), collections.Counter())
            by_counts[tuple(sorted(total.items()))] += [unit for unit, _ in variant]
        if len(by_counts) > 1 and comparable(variants):
            found[function] = dict(by_counts)
    return found


def readable(function: str) -> str:
    """Its declaration."""
    return subprocess.run(["c++filt", function], check=True, capture_output=True, text=True).stdout.strip()


def main(arguments: list[str]) -> int:
    build = Path(arguments[0])
    built = units(build)
    if not built:
        print(f"nothing has been built in {build}", file=sys.stderr)
        return 2
    found = differing(build, built)
    for function, by_counts in found.items():
        print(readable(function))
        for count, of_counts in by_counts.items():
            print("  ", " ".join(f"{name}:{number}" for name, number in count) or "no arithmetic")
            for unit in of_counts:
                print("     ", unit.path, "" if unit.contracts else "(without contraction)")
    print(f"{len(built)} units, {len(found)} functions with copies that calculate differently")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
