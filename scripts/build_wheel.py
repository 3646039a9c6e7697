#!/usr/bin/python3
"""Makes a wheel of the Python client that carries the programs eipc and eipc-server of a build, the libraries they need, and the models of eipc.envs.

    build_wheel.py --build build/release --out build/wheel      prints the path of the wheel

Libraries beside those of the C library are copied out of the system and found by the programs' RPATH ($ORIGIN/../lib), so that the
wheel runs on any x86-64 Linux with a C library at least as new as this system's. Needs patchelf, strip and protoc.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Iterable

ROOT = Path(__file__).resolve().parents[1]
CLIENT = ROOT / "client" / "python"
PROGRAMS = ("eipc", "eipc-server")
LOADED = ("eipc-camera.so", "eipc-sdf.so")  # by a program when it needs one
# What eipc.envs runs: scenes with their meshes, and meshes that it makes scenes of. The mug is that of the tutorials.
SCENES = ("bubble_teddy_low_sound", "finray_plate")
MESHES = ("generated/bottle.obj", "generated/bubble.vtk", "generated/mug.obj")
# Of the C library, which belongs to the system: another one than its loader's would not work.
SYSTEM = re.compile(r"(?:ld-linux-[\w-]+|lib(?:c|m|dl|rt|pthread|resolv|util|nsl|anl|mvec|thread_db)|libnss_\w+)\.so\.\d+")
LICENSE = ('license = { text = "Apache-2.0" }', 'license = { text = "GPL-3.0-or-later" }')
SCRIPTS = '\n[project.scripts]\neipc = "eipc.programs:run_eipc"\neipc-server = "eipc.programs:run_server"\n'


class WheelError(Exception):
    """The wheel could not be made; the message says why."""


def run(*command: object, **options: object) -> str:
    words = [str(word) for word in command]
    if shutil.which(words[0]) is None:
        raise WheelError(f"{words[0]} is not on PATH (./dev setup wheel installs it)")
    result = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    if result.returncode != 0:
        raise WheelError(f"{' '.join(words)} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


def libraries(program: Path) -> dict[str, Path]:
    """Name -> file of every shared library that the program loads, less those of the C library."""
    found = {}
    for line in run("ldd", program, env={**os.environ, "LC_ALL": "C"}).splitlines():
        name, _, place = line.strip().partition(" => ")
        if not place or SYSTEM.fullmatch(name):
            continue
        if place.startswith("not found"):
            raise WheelError(f"{program} needs {name}, which is not installed")
        found[name] = Path(place.split(" (")[0])
    return found


def packages_of(needed: Iterable[Path]) -> set[str]:
    """The Debian packages that libraries are of; fewer on another system."""
    paths = {path for library in needed for path in (library, library.resolve())}
    paths |= {Path("/usr") / path.relative_to("/") for path in paths if path.parts[1] == "lib"}  # /lib is a link to /usr/lib
    result = subprocess.run(["dpkg", "-S", *sorted(paths)], capture_output=True, text=True, check=False)
    return {line.split(":")[0] for line in result.stdout.splitlines() if not line.startswith("diversion")}


def packages_built_with() -> set[str]:
    """Packages whose headers and archives the programs are built with."""
    required = re.split(r"^# optional:", (ROOT / "packages.txt").read_text(encoding="utf-8"), maxsplit=1, flags=re.MULTILINE)[0]
    return {line for line in required.splitlines() if line.endswith("-dev")}


def copy_programs(build: Path, package: Path) -> dict[str, Path]:
    """Programs into package/bin, without symbols, and modules and what both need into package/lib. Returns the libraries."""
    (package / "bin").mkdir()
    (package / "lib").mkdir()
    needed: dict[str, Path] = {}
    for name in PROGRAMS:
        program = build / "bin" / name
        if not program.is_file():
            raise WheelError(f"{program} does not exist: ./dev build release first")
        needed.update(libraries(program))
        copy = package / "bin" / name
        shutil.copy(program, copy)
        run("strip", copy)
        # Not the newer RUNPATH, which the libraries would not inherit.
        run("patchelf", "--force-rpath", "--set-rpath", "$ORIGIN/../lib", copy)
    for name in LOADED:
        module = build / "bin" / name
        needed.update(libraries(module))
        shutil.copy(module, package / "lib" / name)
        run("strip", package / "lib" / name)
    for name, library in needed.items():
        shutil.copy(library, package / "lib" / name)
    return needed


def copy_licenses(needed: dict[str, Path], folder: Path) -> None:
    """The licence of our sources, that of the whole, and the copyright files of the packages that parts of it are from."""
    folder.mkdir()
    shutil.copy(ROOT / "LICENSE", folder / "eipc.Apache-2.0")
    gpl = Path("/usr/share/common-licenses/GPL-3")
    if not gpl.is_file():
        raise WheelError(f"{gpl} does not exist; the wheel must carry the text of its licence")
    shutil.copy(gpl, folder / "GPL-3")
    for package in sorted(packages_of(needed.values()) | packages_built_with()):
        notice = Path("/usr/share/doc", package, "copyright")
        if notice.is_file():
            shutil.copy(notice, folder / f"{package}.copyright")


def copy_models(folder: Path) -> None:
    """The scenes of eipc.envs, and the meshes that they are made of, where eipc/envs/scene_files.py expects them."""
    names = [f"scenes/{scene}.textproto" for scene in SCENES]
    meshes = {name for scene in names for name in re.findall(r'file: "\.\./([^"]+)"', (ROOT / "models" / scene).read_text(encoding="utf-8"))}
    for name in [*names, *sorted(meshes | set(MESHES))]:
        source, copy = ROOT / "models" / name, folder / name
        if not source.is_file():
            raise WheelError(f"{source} does not exist; ./dev build makes what lies in models/generated")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, copy)


def stage(build: Path, folder: Path) -> None:
    """A source tree of the client with programs, whose setup.py makes a wheel of this platform of it."""
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc", "build", "*.egg-info", "tests", "examples")
    folder.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(CLIENT, folder, ignore=ignored)
    run(sys.executable, CLIENT / "generate_protos.py", "--output", folder / "eipc" / "v1")
    needed = copy_programs(build, folder / "eipc")
    copy_models(folder / "eipc" / "models")
    copy_licenses(needed, folder / "licenses")
    project = (folder / "pyproject.toml").read_text(encoding="utf-8")
    if LICENSE[0] not in project:
        raise WheelError("pyproject.toml does not state the licence as this script expects it")
    project = project.replace(*LICENSE).replace("Python client of eipc-server", "eipc-server and its Python client")
    (folder / "pyproject.toml").write_text(project + SCRIPTS, encoding="utf-8")


def make_wheel(build: Path, out: Path) -> Path:
    out.mkdir(parents=True, exist_ok=True)
    for earlier in out.glob("eipc-*.whl"):
        earlier.unlink()
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "client" / "python"  # no folder beside it is taken for the protocol's
        stage(build, source)
        run(sys.executable, "setup.py", "-q", "bdist_wheel", "--dist-dir", out.resolve(), cwd=source)
    (wheel,) = out.glob("eipc-*.whl")
    return wheel


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release", help="folder of the build, with bin/")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "wheel")
    arguments = parser.parse_args()
    try:
        print(make_wheel(arguments.build, arguments.out))
    except WheelError as error:
        print(f"build_wheel: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
