#!/usr/bin/python3
"""Generates the Python modules of the protocol into eipc/v1.

Called by CMake (target python_protos) and by setup.py, so that both a build and a plain pip install from a checkout
work. Needs protoc and grpc_python_plugin on PATH (Debian: protobuf-compiler, protobuf-compiler-grpc).
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

_PACKAGE_INIT = '"""Generated protocol modules (generate_protos.py); not for editing."""\n'


class GenerationError(Exception):
    """The modules could not be made; the message says what is missing."""


def _tool(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise GenerationError(f"{name} is not on PATH (Debian packages: protobuf-compiler protobuf-compiler-grpc)")
    return path


def _make_relative(text: str) -> str:
    """protoc writes `from eipc.v1 import x_pb2`; the package must not depend on where it is installed."""
    return re.sub(r"^from eipc\.v1 import ", "from . import ", text, flags=re.MULTILINE)


def _write_if_changed(path: pathlib.Path, text: str) -> None:
    """Leaves the file (and its time stamp) alone when nothing changed; replaces it in one move otherwise."""
    if path.exists() and path.read_text() == text:
        return
    scratch = path.with_name(path.name + ".tmp")
    scratch.write_text(text)
    scratch.replace(path)


def generate(proto_root: pathlib.Path = DEFAULT_PROTO_ROOT, output: pathlib.Path = DEFAULT_OUTPUT) -> None:
    """Runs protoc on proto_root/eipc/v1/*.proto and writes the modules into `output`. Raises GenerationError."""
    sources = sorted((proto_root / "eipc" / "v1").glob("*.proto"))
    if not sources:
        raise GenerationError(f"no protocol files in {proto_root / 'eipc' / 'v1'}")
    with tempfile.TemporaryDirectory() as scratch:
        command = [
            _tool("protoc"), f"-I{proto_root}", f"--python_out={scratch}", f"--pyi_out={scratch}",
            f"--grpc_python_out={scratch}", f"--plugin=protoc-gen-grpc_python={_tool('grpc_python_plugin')}",
            *map(str, sources),
        ]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise GenerationError(f"protoc failed:\n{result.stderr.strip()}")
        output.mkdir(parents=True, exist_ok=True)
        generated = sorted((pathlib.Path(scratch) / "eipc" / "v1").iterdir())
        for file in generated:
            _write_if_changed(output / file.name, _make_relative(file.read_text()))
        _write_if_changed(output / "__init__.py", _PACKAGE_INIT)
    kept = {file.name for file in generated} | {"__init__.py"}
    for stale in list(output.glob("*.py")) + list(output.glob("*.pyi")):
        if stale.name not in kept:
            stale.unlink()


def generate_if_needed() -> None:
    """As generate(), but a source archive that carries the modules and no .proto files is left as it is."""
    if not DEFAULT_PROTO_ROOT.is_dir() and (DEFAULT_OUTPUT / "service_pb2_grpc.py").exists():
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
