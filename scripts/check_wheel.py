#!/usr/bin/python3
"""Checks a wheel that build_wheel.py made, without installing it: that it says what it is, and that nothing is missing that it needs.

    check_wheel.py WHEEL        prints a line for each fault; exit status 1 when there is one

Checked: name, tags and licence; that RECORD lists every file with its hash; that the programs can be executed, and that every library
which a program or a library needs is inside, found by a path relative to it, or is of the C library; the protocol's descriptor set and
the modules made of it; scenes with every mesh that they name; the notices of every library. Needs readelf.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
import subprocess
import sys
import tempfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path
from typing import Iterator

from google.protobuf import descriptor_pb2
from google.protobuf.message import DecodeError

from build_wheel import LOADED, MESHES, PROGRAMS, SCENES, SYSTEM

TAG = "py3-none-linux_x86_64"
LICENSE = "GPL-3.0-or-later"
PROTOCOL = "eipc/v1/protocol.binpb"
MODULES = ("scene_pb2", "geometry_pb2", "observation_pb2", "service_pb2", "service_pb2_grpc")
SERVICE = "SimulationService"
TEXTS = ("eipc.Apache-2.0", "GPL-3")
# Notices of what the programs are linked with statically.
NOTICES = ("libcgal-dev", "libeigen3-dev")
_NEEDED, _PATH = re.compile(r"\(NEEDED\).*\[(.+)\]"), re.compile(r"\((RPATH|RUNPATH)\).*\[(.+)\]")


def faults(wheel: Path) -> Iterator[str]:
    """What is wrong with a wheel, in words."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        info = next((name.split("/")[0] for name in names if name.endswith(".dist-info/WHEEL")), None)
        if info is None:
            yield "there is no .dist-info/WHEEL: this is no wheel"
            return
        yield from _label_faults(wheel, _header(archive, f"{info}/WHEEL"), _header(archive, f"{info}/METADATA"))
        yield from _record_faults(archive, info)
        yield from _program_faults(archive)
        yield from _protocol_faults(archive)
        yield from _model_faults(archive)
        texts = {Path(name).name for name in names if name.startswith(f"{info}/")}
        for notice in (*TEXTS, *(f"{package}.copyright" for package in NOTICES)):
            if notice not in texts:
                yield f"the text {notice} is missing from {info}"


def _header(archive: zipfile.ZipFile, name: str) -> Message:
    return Parser().parsestr(archive.read(name).decode("utf-8")) if name in archive.namelist() else Message()


def _label_faults(wheel: Path, label: Message, metadata: Message) -> Iterator[str]:
    if not wheel.name.endswith(f"-{TAG}.whl"):
        yield f"the name {wheel.name} does not end with {TAG}: it carries programs for that platform"
    if label.get_all("Tag") != [TAG]:
        yield f"its tags are {label.get_all('Tag')}, not {TAG}"
    if label["Root-Is-Purelib"] != "false":
        yield "it says that it holds Python alone (Root-Is-Purelib), and carries programs"
    if metadata["License"] != LICENSE:
        yield f"its licence is said to be {metadata['License']}, not {LICENSE}: the programs are linked with parts under the GPL"
    if wheel.name.split("-")[:2] != [metadata["Name"], metadata["Version"]]:
        yield f"METADATA names {metadata['Name']} {metadata['Version']}, which {wheel.name} does not"


def _record_faults(archive: zipfile.ZipFile, info: str) -> Iterator[str]:
    record = f"{info}/RECORD"
    listed = {row[0]: row[1] for row in csv.reader(io.StringIO(archive.read(record).decode("utf-8"))) if row}
    names = [name for name in archive.namelist() if not name.endswith("/")]
    for name in sorted(set(names) ^ set(listed)):
        yield f"{name} is {'not listed in RECORD' if name in names else 'listed in RECORD and not there'}"
    for name in sorted(set(names) & set(listed) - {record}):
        digest = base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest()).rstrip(b"=").decode()
        if listed[name] != f"sha256={digest}":
            yield f"{name} is not the file that RECORD lists"


def _program_faults(archive: zipfile.ZipFile) -> Iterator[str]:
    names = archive.namelist()
    for program in (f"eipc/bin/{name}" for name in PROGRAMS):
        if program not in names:
            yield f"the program {program} is missing"
        elif archive.getinfo(program).external_attr >> 16 & 0o111 != 0o111:
            yield f"{program} cannot be executed by everybody"
    for name in LOADED:
        if f"eipc/lib/{name}" not in names:
            yield f"eipc/lib/{name} is missing, which a program loads when it needs it"
    carried = {Path(name).name for name in names if name.startswith("eipc/lib/")}
    for name in sorted(carried):
        if SYSTEM.fullmatch(name):
            yield f"eipc/lib/{name} is of the C library, which belongs to the system"
    for name in names:
        if not name.startswith(("eipc/bin/", "eipc/lib/")) or name.endswith("/"):
            continue
        needed, paths = _dynamic(archive.read(name))
        for library in needed:
            if library not in carried and not SYSTEM.fullmatch(library):
                yield f"{name} needs {library}, which is not in eipc/lib"
        if name.startswith("eipc/bin/") and paths != [("RPATH", "$ORIGIN/../lib")]:
            yield f"{name} looks for libraries in {paths}, not in $ORIGIN/../lib by RPATH, which libraries inherit"


def _dynamic(program: bytes) -> tuple[list[str], list[tuple[str, str]]]:
    """The libraries that a program or library names, and where they are looked for."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(program)
        file.flush()
        done = subprocess.run(["readelf", "-d", "-W", file.name], capture_output=True, text=True, check=False)
    return _NEEDED.findall(done.stdout), _PATH.findall(done.stdout)


def _protocol_faults(archive: zipfile.ZipFile) -> Iterator[str]:
    names = archive.namelist()
    for module in MODULES:
        if f"eipc/v1/{module}.py" not in names:
            yield f"the module eipc/v1/{module}.py is missing"
    if PROTOCOL not in names:
        yield f"the descriptor set {PROTOCOL} is missing, of which messages are made"
        return
    try:
        files = descriptor_pb2.FileDescriptorSet.FromString(archive.read(PROTOCOL)).file
    except DecodeError:
        yield f"{PROTOCOL} is no descriptor set"
        return
    if SERVICE not in {service.name for file in files for service in file.service}:
        yield f"{PROTOCOL} does not describe the service {SERVICE}"
    described = {file.name for file in files}
    for file in files:
        for other in file.dependency:
            if other not in described and not other.startswith("google/"):
                yield f"{PROTOCOL} lacks {other}, which {file.name} imports"


def _model_faults(archive: zipfile.ZipFile) -> Iterator[str]:
    names = archive.namelist()
    for mesh in MESHES:
        if f"eipc/models/{mesh}" not in names:
            yield f"the mesh {mesh} is missing"
    for scene in (f"eipc/models/scenes/{name}.textproto" for name in SCENES):
        if scene not in names:
            yield f"the scene {scene} is missing"
            continue
        for mesh in re.findall(r'file: "\.\./([^"]+)"', archive.read(scene).decode("utf-8")):
            if f"eipc/models/{mesh}" not in names:
                yield f"{scene} names the mesh {mesh}, which is missing"


def main(argv: list[str]) -> int:
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    found = list(faults(Path(argv[1])))
    for fault in found:
        print(f"check_wheel: {fault}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
