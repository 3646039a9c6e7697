"""The wheel with programs: what is in it, and that it runs where there is no checkout. Skips without patchelf or a build."""

import base64
import csv
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from conftest import CLIENT_ROOT, REPOSITORY
from test_tutorial import follow, page_blocks

C_LIBRARY = re.compile(r"(ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libresolv|libnss_\w+)\.so\.\d")
BUILD_WHEEL, CHECK_WHEEL = (REPOSITORY / "scripts" / f"{name}_wheel.py" for name in ("build", "check"))


def make(*arguments, **options):
    return subprocess.run([sys.executable, BUILD_WHEEL, *arguments], capture_output=True, text=True, check=False, **options)


@pytest.fixture(scope="module")
def build_dir(server_binary, eipc_binary):
    for tool in ("patchelf", "strip"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed (./dev setup wheel)")
    return server_binary.resolve().parents[1]


@pytest.fixture(scope="module")
def wheel(build_dir, tmp_path_factory):
    out = tmp_path_factory.mktemp("wheel")
    (out / "eipc-0.0.1-py3-none-any.whl").write_bytes(b"an earlier one")
    made = make("--build", build_dir, "--out", out)
    assert made.returncode == 0, made.stderr
    assert sorted(out.iterdir()) == [Path(made.stdout.strip())]
    return Path(made.stdout.strip())


def metadata(wheel, name):
    with zipfile.ZipFile(wheel) as archive:
        (member,) = [entry for entry in archive.namelist() if entry.endswith(f".dist-info/{name}")]
        return Parser().parsestr(archive.read(member).decode())


def test_the_wheel_says_what_it_is(wheel):
    assert wheel.name.endswith("-py3-none-linux_x86_64.whl")
    assert metadata(wheel, "METADATA")["License"] == "GPL-3.0-or-later"
    assert metadata(wheel, "METADATA")["Requires-Python"] == ">=3.9"
    support = dict(re.findall(r"^\| (\w+) \| [\d.]+ \| (.+) \|$", metadata(wheel, "METADATA").get_payload(), re.MULTILINE))
    assert "3.12 and later" in support["Python"] and support["NumPy"].endswith(", 2") and support["protobuf"] == "later major versions"
    assert metadata(wheel, "WHEEL")["Root-Is-Purelib"] == "false"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        programs = {name: archive.getinfo(f"eipc/bin/{name}").external_attr >> 16 for name in ("eipc", "eipc-server")}
    assert all(mode & 0o111 == 0o111 for mode in programs.values())
    libraries = [name for name in names if name.startswith("eipc/lib/")]
    assert libraries and not any(C_LIBRARY.match(Path(name).name) for name in libraries)
    notices = " ".join(name for name in names if ".dist-info/" in name)
    for text in ("GPL-3", "eipc.Apache-2.0", "libgrpc29.copyright", "libssl3.copyright", "libcgal-dev.copyright", "libeigen3-dev.copyright"):
        assert text in notices
    assert {"eipc/v1/service_pb2.py", "eipc/v1/protocol.binpb"} <= set(names) and not any("/tests/" in name for name in names)


def check(wheel):
    done = subprocess.run([sys.executable, CHECK_WHEEL, wheel], capture_output=True, text=True, check=False)
    assert done.returncode == (1 if done.stderr else 0), done.stderr
    return [line.removeprefix("check_wheel: ") for line in done.stderr.splitlines()]


def planted(wheel, folder, change, listed=True, **names):
    """A copy in which change(name, content) is what is there instead, None: nothing. listed: RECORD lists what is there. names: how
    the copy is named."""
    out = folder / wheel.name.replace(*names.get("renamed", ("", "")))
    entries = []
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            content = archive.read(entry)
            entries.append((entry, content if entry.filename.endswith("/RECORD") else change(entry.filename, content)))
    kept = [(entry, content) for entry, content in entries if content is not None]
    with zipfile.ZipFile(out, "w") as archive:
        for entry, content in kept:
            archive.writestr(entry, record_of(kept) if listed and entry.filename.endswith("/RECORD") else content)
    return out


def record_of(entries):
    rows = io.StringIO()
    for entry, content in entries:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        csv.writer(rows).writerow([entry.filename] + (["", ""] if entry.filename.endswith("/RECORD") else [f"sha256={digest}", len(content)]))
    return rows.getvalue()


def without(part):
    return lambda name, content: None if re.search(part, name) else content


def changed(part, before, after):
    return lambda name, content: content.replace(before, after) if re.search(part, name) else content


def test_a_sound_wheel_has_no_faults(wheel, tmp_path):
    assert check(wheel) == []
    assert check(planted(wheel, tmp_path, lambda name, content: content)) == []


FAULTS = {
    "a library": (without(r"eipc/lib/libgrpc\+\+"), {}, r"eipc/bin/eipc-server needs libgrpc\+\+\.so\.\S+, which is not in eipc/lib"),
    "a library of a library": (without(r"eipc/lib/libssl"), {}, r"eipc/lib/\S+ needs libssl\.so\.3, which is not in eipc/lib"),
    "the path to libraries": (changed("bin/eipc-server", b"$ORIGIN/../lib", b"/usr/local/lib"), {}, r"eipc-server looks for libraries in"),
    "a program": (without("eipc/bin/eipc$"), {}, "the program eipc/bin/eipc is missing"),
    "the platform in the name": (lambda name, content: content, {"renamed": ("linux_x86_64", "any")}, "does not end with py3-none-linux"),
    "the platform in the tags": (changed("/WHEEL$", b"linux_x86_64", b"any"), {}, r"its tags are \['py3-none-any'\]"),
    "pure Python": (changed("/WHEEL$", b"Purelib: false", b"Purelib: true"), {}, "says that it holds Python alone"),
    "the licence": (changed("/METADATA$", b"GPL-3.0-or-later", b"Apache-2.0"), {}, "said to be Apache-2.0, not GPL-3.0-or-later"),
    "the text of the licence": (without("/GPL-3$"), {}, "the text GPL-3 is missing"),
    "the version": (changed("/METADATA$", b"\nVersion: ", b"\nVersion: 9."), {}, r"METADATA names eipc 9\.\d"),
    "the descriptor set": (without(r"protocol\.binpb"), {}, r"the descriptor set eipc/v1/protocol\.binpb is missing"),
    "a broken descriptor set": (changed(r"protocol\.binpb", b"SimulationService", b"simulationService"), {}, "does not describe the service"),
    "a module of messages": (without("scene_pb2.py$"), {}, r"the module eipc/v1/scene_pb2\.py is missing"),
    "a mesh": (without(r"generated/bubble\.vtk"), {}, r"bubble_teddy_low_sound\.textproto names the mesh generated/bubble\.vtk, which is missing"),
    "the mug of the tutorials": (without(r"generated/mug\.obj"), {}, r"the mesh generated/mug\.obj is missing"),
    "a file that is not listed": (without(r"gltf\.py"), {"listed": False}, r"eipc/gltf\.py is listed in RECORD and not there"),
    "a file that was changed": (changed(r"gltf\.py", b"def ", b"def  "), {"listed": False}, r"eipc/gltf\.py is not the file that RECORD lists"),
}


@pytest.mark.parametrize("missing", FAULTS)
def test_a_fault_that_is_planted_is_named(missing, wheel, tmp_path):
    change, how, words = FAULTS[missing]
    found = check(planted(wheel, tmp_path, change, **how))
    assert any(re.search(words, fault) for fault in found), found


def test_a_wheel_with_a_fault_does_not_work(wheel, tmp_path, nowhere):
    """What the checks are for: without the descriptor set the package is not imported. (Without one of its libraries the server takes that
    of the system, where there is one.)"""
    with zipfile.ZipFile(planted(wheel, tmp_path, without(r"protocol\.binpb"))) as archive:
        archive.extractall(tmp_path)
    done = subprocess.run(["/usr/bin/python3", "-c", "import eipc"], cwd=tmp_path, capture_output=True, text=True, check=False,
                          env={"PATH": "/usr/bin:/bin"})
    assert done.returncode != 0 and "protocol.binpb" in done.stderr, done.stderr


@pytest.fixture
def nowhere(monkeypatch):
    """Without the checkout's package and server."""
    for variable in ("PYTHONPATH", "EIPC_SERVER", "EIPC_CLI"):
        monkeypatch.delenv(variable, raising=False)


def test_every_block_of_the_wheel_runs(wheel, nowhere, server_binary, eipc_binary, tmp_path):
    (tmp_path / "build" / "wheel").mkdir(parents=True)
    shutil.copy(wheel, tmp_path / "build" / "wheel")
    printed = follow("howto/wheel.md", server_binary, eipc_binary, tmp_path)
    (carried,) = (tmp_path / "V").glob("lib/python3*/site-packages/eipc")
    assert f"started {carried / 'bin' / 'eipc-server'}" in printed
    # Backward Euler falls g h^2 n (n + 1) / 2; the pose is that of the centre of mass.
    assert f"after 0.1 s at {1.05 - 9.81 * 0.01**2 * 55:.4f} m" in printed
    assert re.search(r"^eipc \d+\.\d+\.\d+$", printed, re.MULTILINE)
    check_mapped(tmp_path / "V" / "bin" / "python", carried)
    check_sdf(carried)
    made = subprocess.run([tmp_path / "V" / "bin" / "python", "-c", ENVIRONMENT], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"}, check=True)
    assert made.stdout.split() == [str(carried / "models" / "scenes" / "finray_plate.textproto"), "(2,", "26)"]


@pytest.mark.parametrize("page", ["first_grasp", "learn_a_grasp"])
def test_a_tutorial_starts_with_the_wheel_alone(page, wheel, nowhere, tmp_path):
    """Its blocks for the wheel, in a folder that holds the wheel, but for the installation of packages."""
    shutil.copy(wheel, tmp_path)
    install, begin = page_blocks.commands_of(REPOSITORY, "docs/tutorial/first_grasp.md", page_blocks.WHEEL)[1:3]
    if page == "learn_a_grasp":
        begin = page_blocks.commands_of(REPOSITORY, "docs/tutorial/learn_a_grasp.md", page_blocks.WHEEL)[0]
    done = subprocess.run(["bash", "-euc", f'cd "{tmp_path}"\n{install}{begin}echo "$MUG"; command -v eipc; command -v python3'],
                          capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"}, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    mug, program, python = (Path(line) for line in done.stdout.splitlines()[-3:])
    (carried,) = (tmp_path / "V").glob("lib/python3*/site-packages/eipc")
    assert mug == carried / "models" / "generated" / "mug.obj" and mug.is_file()
    assert (program, python) == (tmp_path / "V" / "bin" / "eipc", tmp_path / "V" / "bin" / "python3")


def test_a_page_without_pictures_goes_on(wheel, nowhere, tmp_path):
    """Where VTK is not installed the programs of the tutorials say so, and end well."""
    (show,) = [text for text in page_blocks.blocks_of(REPOSITORY, "docs/tutorial/learn_a_grasp.md", "python") if text.startswith("# view.py")]
    absent = "from eipc.viz import painter\nfrom pathlib import Path\n" \
             "painter.importlib.util.find_spec, painter._DEBIAN_VTK = lambda name: None, Path('/nowhere')\n"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    for program in ("eipc", "eipc-server"):
        (tmp_path / "eipc" / "bin" / program).chmod(0o755)
    done = subprocess.run(["/usr/bin/python3", "-c", absent + show], cwd=tmp_path, capture_output=True, text=True, check=False,
                          env={"PATH": "/usr/bin:/bin", "MUG": str(tmp_path / "eipc/models/generated/mug.obj")})
    assert done.returncode == 0, done.stderr
    assert "no picture: pictures are drawn by VTK, which is not installed: apt-get install python3-vtk9 xvfb" in done.stdout
    assert "observations (2, 26)" in done.stdout and not (tmp_path / "start.png").exists()


ENVIRONMENT = """
import eipc.envs
from eipc.envs.scene_files import model_file
print(model_file("scenes/finray_plate.textproto"))
with eipc.envs.make_vec("eipc/Grasp-v0", 2) as env:
    env.reset(seed=0)
    print(env.step(env.action_space.sample())[0].shape)
"""

MAPPED = """
import pathlib
import eipc
from eipc.camera import Camera
from fall import scene
camera = Camera.look_at([0.6, 0.5, 1.5], [0.05, 0.05, 1.05], width=40, height=30, fov_y_rad=0.8)
with eipc.launch() as server, server.client() as client:
    with client.create_scene(scene).create_session() as session:
        seen = session.step(0.01, observe=eipc.Observe(cameras={"side": eipc.CameraSense(camera, colour=True)}))
    assert seen.cameras["side"].colour.shape == (30, 40, 3)
    assert seen.cameras["side"].shows("cube").sum() > 10
    print(pathlib.Path(f"/proc/{server.process.pid}/maps").read_text())
"""


def check_mapped(python, carried):
    """The server draws a picture, and loads nothing but what the wheel carries and the C library."""
    folder = carried.parents[4]  # with the script of the page
    result = subprocess.run([python, "-c", MAPPED], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"}, cwd=folder, check=False)
    assert result.returncode == 0, result.stderr
    mapped = {Path(line.split()[5]) for line in result.stdout.splitlines() if len(line.split()) > 5 and line.split()[5].startswith("/")}
    code = {path for path in mapped if ".so" in path.name or path.name == "eipc-server"}
    assert {carried / "bin" / "eipc-server", carried / "lib" / "eipc-camera.so"} <= code and len(code) > 20
    check_outside(code, carried)


def check_sdf(carried):
    """The program reads SDF, and loads nothing but what the wheel carries and the C library."""
    gripper = REPOSITORY / "models" / "robots" / "pad_gripper.sdf"
    result = subprocess.run([carried / "bin" / "eipc", "robot", gripper], capture_output=True, text=True, check=False,
                            env={"PATH": "/usr/bin:/bin", "LD_DEBUG": "files"})
    assert result.returncode == 0 and "pad_gripper: 4 links" in result.stdout, result.stderr
    code = {Path(path).resolve() for path in re.findall(r"calling init: (/\S+)$", result.stderr, re.MULTILINE)}
    assert carried / "lib" / "eipc-sdf.so" in code and len(code) > 20
    check_outside(code, carried)


def check_outside(code, carried):
    """Of the files of a process: those that the wheel does not carry are of the C library."""
    outside = {path.name for path in code if carried not in path.parents}
    assert outside and all(C_LIBRARY.match(name) for name in outside), outside


def test_a_client_alone_is_a_pure_wheel_of_ours(build_dir, tmp_path):
    source = tmp_path / "python"
    shutil.copytree(CLIENT_ROOT, source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    subprocess.run([sys.executable, "setup.py", "-q", "bdist_wheel", "--dist-dir", tmp_path / "out"], cwd=source, check=True,
                   capture_output=True)
    (pure,) = (tmp_path / "out").iterdir()
    assert pure.name.endswith("-py3-none-any.whl")
    assert metadata(pure, "METADATA")["License"] == "Apache-2.0"
    with zipfile.ZipFile(pure) as archive:
        assert not any(name.startswith(("eipc/bin", "eipc/lib")) or name.endswith("entry_points.txt") for name in archive.namelist())


def test_what_is_missing_is_named(build_dir, tmp_path):
    made = make("--build", tmp_path, "--out", tmp_path / "out")
    assert made.returncode == 1 and f"{tmp_path / 'bin' / 'eipc'} does not exist: ./dev build release first" in made.stderr
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("ldd", "strip", "protoc"):
        (tools / tool).symlink_to(shutil.which(tool))
    made = make("--build", build_dir, "--out", tmp_path / "out", env={**os.environ, "PATH": f"{tools}"})
    assert made.returncode == 1 and "patchelf is not on PATH (./dev setup wheel installs it)" in made.stderr


def test_programs_that_are_gone_are_named(tmp_path, monkeypatch, capsys):
    from eipc import programs
    monkeypatch.setattr(programs, "_PROGRAMS", tmp_path)
    assert programs.run_eipc() == 126
    assert f"eipc: {tmp_path / 'eipc'} cannot be run (No such file or directory)" in capsys.readouterr().err
