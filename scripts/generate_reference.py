#!/usr/bin/python3
"""Writes reference pages from what the sources say: the Python package from its docstrings, the protocol from the comments of proto/eipc/v1.

    generate_reference.py --out out/reference      writes python.md and protocol.md, prints what has no documentation
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Iterator

ROOT = Path(__file__).resolve().parents[1]
CLIENT = ROOT / "client" / "python"
MODULES = ("eipc", "eipc.aio", "eipc.drives", "eipc.envs", "eipc.export", "eipc.farm", "eipc.learn", "eipc.pads", "eipc.remote", "eipc.viz")
# Fields of descriptor.proto: the places of messages, enumerations and services in a file, and of what they hold.
_MESSAGES, _ENUMS, _SERVICES, _FIELDS, _NESTED, _NESTED_ENUMS, _METHODS, _VALUES = 4, 5, 6, 2, 3, 4, 2, 2


def python_page() -> tuple[str, list[str]]:
    """The page, and the public names that say nothing of themselves."""
    sys.path[:0] = [str(CLIENT)]
    import generate_protos  # of the client
    generate_protos.generate_if_needed()
    parts, silent = ["# Python package", "Written by `./dev reference` from the docstrings."], []
    seen: set[Any] = set()
    for name in MODULES:
        module = importlib.import_module(name)
        parts += [f"## `{name}`", _first_paragraph(module)]
        for public in _public(module):
            made = getattr(module, public)
            if not (inspect.isclass(made) or inspect.isroutine(made)) or made in seen:
                continue
            seen.add(made)
            parts += _described(name, public, made, silent)
    return "\n\n".join(part for part in parts if part) + "\n", silent


def _public(module: Any) -> list[str]:
    listed = getattr(module, "__all__", None)
    names = listed if listed is not None else [name for name, made in vars(module).items() if getattr(made, "__module__", None) == module.__name__]
    return sorted(name for name in names if not name.startswith("_"))


def _described(module: str, name: str, made: Any, silent: list[str]) -> Iterator[str]:
    text = _own_doc(made)
    if not text:
        silent.append(f"{module}.{name}")
    yield f"### `{name}{_signature(made)}`"
    yield text
    if not inspect.isclass(made) or issubclass(made, BaseException):
        return
    rows = []
    for method, function in vars(made).items():
        if method.startswith("_") or not (inspect.isfunction(function) or isinstance(function, (property, classmethod, staticmethod))):
            continue
        inner = function.fget if isinstance(function, property) else getattr(function, "__func__", function)
        shown = "" if isinstance(function, property) else _signature(inner)
        rows.append(f"- `{method}{shown}`" + (f": {_in_one_line(_own_doc(inner))}" if _own_doc(inner) else ""))
    yield "\n".join(rows)


def _own_doc(made: Any) -> str:
    """The docstring; not the one that dataclasses make of a signature. Of classes with that of __init__."""
    text = inspect.getdoc(made) or ""
    if inspect.isclass(made):
        if text.startswith(f"{made.__name__}("):
            text = ""
        begin = vars(made).get("__init__")
        more = inspect.getdoc(begin) if begin is not None and getattr(begin, "__doc__", None) else None
        text = "\n\n".join(part for part in (text, more) if part)
    return re.sub(r"\n((?: {4}.*\n?)+)", lambda code: "\n```python\n" + inspect.cleandoc(code.group(1)) + "\n```\n", text)


def _signature(made: Any) -> str:
    try:
        shown = str(inspect.signature(made))
    except (TypeError, ValueError):
        return "(...)"
    return re.sub(r"\(self(?:, )?", "(", shown).replace("'", "")


def _first_paragraph(module: Any) -> str:
    return (inspect.getdoc(module) or "").split("\n\n")[0]


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def protocol_page() -> tuple[str, list[str]]:
    """The page, and the messages, fields and calls that have neither a comment nor a section above them."""
    from google.protobuf import descriptor_pb2
    with tempfile.TemporaryDirectory() as scratch:
        found = Path(scratch) / "set"
        sources = sorted((ROOT / "proto" / "eipc" / "v1").glob("*.proto"))
        subprocess.run(["protoc", f"-I{ROOT / 'proto'}", "--include_source_info", f"--descriptor_set_out={found}", *map(str, sources)], check=True)
        files = descriptor_pb2.FileDescriptorSet.FromString(found.read_bytes())
    parts, silent = ["# Protocol", "Written by `./dev reference` from the comments of `proto/eipc/v1`."], []
    for file in files.file:
        said = {tuple(place.path): _in_one_line(place.leading_comments or place.trailing_comments) for place in file.source_code_info.location}
        parts.append(f"## `{file.name}`")
        for s, service in enumerate(file.service):
            rows = [[f"`{m.name}`", f"{_stream(m.client_streaming)}`{_short(m.input_type)}`", f"{_stream(m.server_streaming)}`{_short(m.output_type)}`",
                     said.get((_SERVICES, s, _METHODS, k), "")] for k, m in enumerate(service.method)]
            silent += [f"{service.name}.{m.name}" for k, m in enumerate(service.method) if not rows[k][3]]
            parts += [f"### service `{service.name}`", said.get((_SERVICES, s), ""), _table(["call", "request", "answer", ""], rows)]
        for m, message in enumerate(file.message_type):
            parts += _message(message, (_MESSAGES, m), said, message.name)
        for e, enumeration in enumerate(file.enum_type):
            parts += _enumeration(enumeration, (_ENUMS, e), said, enumeration.name)
    return "\n\n".join(part for part in parts if part) + "\n", silent


def _message(message: Any, path: tuple[int, ...], said: dict[tuple[int, ...], str], name: str) -> Iterator[str]:
    yield f"### `{name}`"
    yield said.get(path, "")
    rows = [[str(f.number), f"`{f.name}`", _type(f), said.get((*path, _FIELDS, k), "")] for k, f in enumerate(message.field)]
    if rows:
        yield _table(["", "field", "type", ""], rows)
    for n, nested in enumerate(message.nested_type):
        if not nested.options.map_entry:
            yield from _message(nested, (*path, _NESTED, n), said, f"{name}.{nested.name}")
    for e, enumeration in enumerate(message.enum_type):
        yield from _enumeration(enumeration, (*path, _NESTED_ENUMS, e), said, f"{name}.{enumeration.name}")


def _enumeration(enumeration: Any, path: tuple[int, ...], said: dict[tuple[int, ...], str], name: str) -> Iterator[str]:
    yield f"### enum `{name}`"
    yield said.get(path, "")
    yield _table(["", "value", ""], [[str(v.number), f"`{v.name}`", said.get((*path, _VALUES, k), "")] for k, v in enumerate(enumeration.value)])


def _type(field: Any) -> str:
    name = _short(field.type_name) if field.type_name else type(field).Type.Name(field.type).removeprefix("TYPE_").lower()
    return ("repeated " if field.label == type(field).LABEL_REPEATED else "optional " if field.proto3_optional else "") + f"`{name}`"


def _stream(streams: bool) -> str:
    return "stream of " if streams else ""


def _short(name: str) -> str:
    return name.removeprefix(".eipc.v1.").removeprefix(".")


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "reference")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, make in (("python.md", python_page), ("protocol.md", protocol_page)):
        page, silent = make()
        (arguments.out / name).write_text(page, encoding="utf-8")
        print(f"{arguments.out / name}: {page.count(chr(10))} lines" + (f"; without documentation: {', '.join(silent)}" if silent else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
