#!/usr/bin/python3
"""Writes eipc/v1: the protocol as a descriptor set, modules that make its classes at import, and type stubs of them.

Called by CMake (target python_protos) and by setup.py, so that both a build and a plain pip install from a checkout
work. Needs protoc on PATH (Debian: protobuf-compiler).
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DEFAULT_PROTO_ROOT = HERE.parent.parent / "proto"
DEFAULT_OUTPUT = HERE / "eipc" / "v1"
DESCRIPTOR_SET = "protocol.binpb"  # eipc/messages.py reads it

_PACKAGE_INIT = '"""Modules of the protocol (generate_protos.py writes them; eipc/messages.py fills them)."""\n'
_MODULE = '''"""{file}, made at import; not for editing."""

from ..messages import publish_{what}

publish_{what}(globals(), "{file}")
'''
_RPC = re.compile(r"^\s*rpc\s+(\w+)\s*\(\s*(stream\s+)?([\w.]+)\s*\)\s*returns\s*\(\s*(?:stream\s+)?([\w.]+)\s*\)", re.MULTILINE)
_SERVICE = re.compile(r"^service\s+(\w+)", re.MULTILINE)


class GenerationError(Exception):
    """The modules could not be made; the message says what is missing."""


def _tool(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise GenerationError(f"{name} is not on PATH (Debian package: protobuf-compiler)")
    return path


def _make_relative(text: str) -> str:
    """protoc writes `from eipc.v1 import x_pb2`; the package must not depend on where it is installed."""
    return re.sub(r"^from eipc\.v1 import ", "from . import ", text, flags=re.MULTILINE)


def _write_if_changed(path: pathlib.Path, data: bytes) -> None:
    """Leaves the file (and its time stamp) alone when nothing changed; replaces it in one move otherwise."""
    if path.exists() and path.read_bytes() == data:
        return
    scratch = path.with_name(path.name + ".tmp")
    scratch.write_bytes(data)
    scratch.replace(path)


def _service_types(source: pathlib.Path) -> str:
    """Type stubs of a file's services. What a call returns depends on the channel: the response, an iterator, or an awaitable."""
    text = re.sub(r"//[^\n]*", "", source.read_text(encoding="utf-8"))
    messages = f"{source.stem}_pb2"
    lines = ["from typing import Any, Iterable", "", "from google.protobuf import empty_pb2", "", f"from . import {messages}"]
    services = list(_SERVICE.finditer(text))
    ends = [service.start() for service in services[1:]] + [len(text)]
    for service, end in zip(services, ends):
        calls = [(name, f"Iterable[{messages}.{request}]" if streamed else f"{messages}.{request}")
                 for name, streamed, request, _ in _RPC.findall(text[service.start():end])]
        name = service.group(1)
        lines += ["", f"class {name}Stub:", "    def __init__(self, channel: Any) -> None: ..."]
        lines += [f"    def {call}(self, request: {kind}, **options: Any) -> Any: ..." for call, kind in calls]
        lines += ["", f"class {name}Servicer:"]
        lines += [f"    def {call}(self, request: Any, context: Any) -> Any: ..." for call, kind in calls]
        lines += ["", f"def add_{name}Servicer_to_server(servicer: {name}Servicer, server: Any) -> None: ..."]
    return "\n".join(lines).replace(f"{messages}.google.protobuf.Empty", "empty_pb2.Empty") + "\n"


def _modules(sources: "list[pathlib.Path]", scratch: pathlib.Path) -> "dict[str, bytes]":
    """File name -> content of all that the package needs."""
    made = {"__init__.py": _PACKAGE_INIT, DESCRIPTOR_SET: (scratch / DESCRIPTOR_SET).read_bytes()}
    for source in sources:
        file = f"eipc/v1/{source.name}"
        made[f"{source.stem}_pb2.py"] = _MODULE.format(file=file, what="messages")
        made[f"{source.stem}_pb2.pyi"] = _make_relative((scratch / "eipc" / "v1" / f"{source.stem}_pb2.pyi").read_text(encoding="utf-8"))
        if _SERVICE.search(source.read_text(encoding="utf-8")):
            made[f"{source.stem}_pb2_grpc.py"] = _MODULE.format(file=file, what="services")
            made[f"{source.stem}_pb2_grpc.pyi"] = _service_types(source)
    return {name: text.encode() if isinstance(text, str) else text for name, text in made.items()}


def generate(proto_root: pathlib.Path = DEFAULT_PROTO_ROOT, output: pathlib.Path = DEFAULT_OUTPUT) -> None:
    """Runs protoc on proto_root/eipc/v1/*.proto and writes the modules into `output`. Raises GenerationError."""
    sources = sorted((proto_root / "eipc" / "v1").glob("*.proto"))
    if not sources:
        raise GenerationError(f"no protocol files in {proto_root / 'eipc' / 'v1'}")
    with tempfile.TemporaryDirectory() as scratch:
        command = [_tool("protoc"), f"-I{proto_root}", f"--pyi_out={scratch}", "--include_imports",
                   f"--descriptor_set_out={scratch}/{DESCRIPTOR_SET}", *map(str, sources)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise GenerationError(f"protoc failed:\n{result.stderr.strip()}")
        made = _modules(sources, pathlib.Path(scratch))
    output.mkdir(parents=True, exist_ok=True)
    for name, data in made.items():
        _write_if_changed(output / name, data)
    for stale in output.iterdir():
        if stale.suffix in (".py", ".pyi", ".binpb") and stale.name not in made:
            stale.unlink()


def generate_if_needed() -> None:
    """As generate(), but a source archive that carries the modules and no .proto files is left as it is."""
    if not (DEFAULT_PROTO_ROOT / "eipc" / "v1").is_dir() and (DEFAULT_OUTPUT / DESCRIPTOR_SET).exists():
        return
    generate()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--proto-root", type=pathlib.Path, default=DEFAULT_PROTO_ROOT)
    parser.add_argument("--output", type=pathlib.Path, default=DEFAULT_OUTPUT)
    arguments = parser.parse_args()
    try:
        generate(arguments.proto_root, arguments.output)
    except GenerationError as error:
        print(f"generate_protos: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
