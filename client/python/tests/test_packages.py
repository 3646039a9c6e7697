"""What the Debian packages install, used in a root of its own: programs, the C++ client by CMake and by pkg-config, the Python client.

The packages themselves are checked where ./dev packages has made them.
"""

import os
import re
import shutil
import subprocess
import sys
import urllib.request

import pytest

from conftest import REPOSITORY

PACKAGES = REPOSITORY / "build" / "packages"
COMPONENTS = ("server", "client", "python")
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(eipc-client 0.2 REQUIRED)
add_executable(user user.cc)
target_link_libraries(user PRIVATE eipc::client)
"""
USER = """
#include <cstdio>

#include "client/cpp/client.h"

int main(int, char** argv) {
  auto source = eipc::client::SceneSource::FromFile(argv[2]);
  if (!source.ok()) return 2;
  auto client = eipc::client::Client::Connect(argv[1]);
  if (!client.ok()) return 3;
  const auto scene = client->CreateScene(*source);
  if (!scene.ok()) return 4;
  auto session = client->CreateSession(scene->name);
  if (!session.ok()) return 5;
  const auto seen = session->Step(0.01);
  if (!seen.ok()) return 6;
  std::printf("step %d of %zu bodies\\n", static_cast<int>(seen->step), scene->bodies.size());
  return session->Delete().ok() ? 0 : 7;
}
"""
PYTHON = """
import eipc, eipc.envs
from eipc.envs.scene_files import model_file
print(eipc.__file__)
with eipc.launch() as server:
    print(server.process.args[0])
    with eipc.envs.make_vec("eipc/Grasp-v0", 1, server=server) as env:
        print(env.reset(seed=0)[0].shape, model_file("scenes/finray_plate.textproto"))
"""
PICTURE = """
import eipc
from eipc.camera import Camera
from eipc.envs.scene_files import model_file
above = Camera.look_at([0.3, 0.3, 0.5], [0, 0, 0], width=40, height=30, fov_y_rad=0.8)
with eipc.launch() as server, server.client() as client:
    with client.create_scene(eipc.load_scene(model_file("scenes/finray_plate.textproto"))).create_session() as session:
        seen = session.state(eipc.Observe(cameras={"above": eipc.CameraSense(above, colour=True)}))
    print(seen.cameras["above"].colour.shape)
"""


@pytest.fixture(scope="module")
def root(server_binary, eipc_binary, tmp_path_factory):
    """A root with what the packages have: the files of their components, and none that belongs to no package."""
    build = server_binary.resolve().parents[1]
    needed = [build / "CMakeCache.txt", build / "client/cpp/libeipc_client.a", REPOSITORY / "models/generated/manifest.json"]
    if shutil.which("cmake") is None or not all(path.exists() for path in needed):
        pytest.skip("the build lacks what is installed: ./dev build release")
    root = tmp_path_factory.mktemp("root")
    for component in COMPONENTS:
        done = subprocess.run(["cmake", "--install", build, "--prefix", "/usr", "--component", component], env={**os.environ, "DESTDIR": str(root)},
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return root


def run(*words, **environment):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, timeout=300,
                          env={"PATH": "/usr/bin:/bin", "HOME": "/tmp", **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_programs_python_and_models_find_each_other(root):
    path, packages = f"{root}/usr/bin:/usr/bin:/bin", root / "usr/lib/python3/dist-packages"
    assert re.match(r"eipc \d+\.\d+\.\d+", run(root / "usr/bin/eipc", "--version", PATH=path))
    package, server, shape, plate = run(sys.executable, "-c", PYTHON, PATH=path, PYTHONPATH=str(packages)).replace(") ", ")\n").split("\n")[:4]
    assert package == f"{packages}/eipc/__init__.py" and server == f"{root}/usr/bin/eipc-server"
    assert shape == "(1, 26)" and plate == f"{packages}/eipc/models/scenes/finray_plate.textproto"
    assert "usage: eipc record" in run(root / "usr/bin/eipc", "record", "--help", PATH=path, PYTHONPATH=str(packages))
    assert not list(packages.rglob("__pycache__/*test*")) and (root / "etc/default/eipc-server").is_file()


def test_installed_programs_find_the_modules_that_they_load(root):
    path, packages = f"{root}/usr/bin:/usr/bin:/bin", root / "usr/lib/python3/dist-packages"
    assert run(sys.executable, "-c", PICTURE, PATH=path, PYTHONPATH=str(packages)) == "(30, 40, 3)\n"
    assert "pad_gripper: 4 links" in run(root / "usr/bin/eipc", "robot", REPOSITORY / "models/robots/pad_gripper.sdf", PATH=path)


def test_the_installed_server_has_the_viewers_page(root):
    if not (REPOSITORY / "client/python/eipc/viz/live/index.html").exists():
        pytest.skip("the viewer's page is not built: ./dev viewer")
    import eipc
    with eipc.launch(root / "usr/bin/eipc-server", ["--listen=127.0.0.1:0", "--viewer=127.0.0.1:0"]) as server:
        with urllib.request.urlopen(server.viewer_url, timeout=30) as answer:
            assert b"viewer.js" in answer.read(), "a server without a page says how one is built"


def test_the_client_library_is_found_by_cmake_and_pkg_config(root, server_binary, tmp_path):
    import eipc
    from blocks import write_block
    from test_replay import SCENE
    write_block(tmp_path / "block.vtk", cells=1)
    (tmp_path / "fall.textproto").write_text(SCENE.format(mesh="block.vtk"))
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    (tmp_path / "user.cc").write_text(USER)
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={root}/usr")
    run("cmake", "--build", tmp_path / "build")
    with eipc.launch(server_binary) as server:
        assert run(tmp_path / "build" / "user", server.address, tmp_path / "fall.textproto") == "step 1 of 1 bodies\n"
    flags = run("pkg-config", "--cflags", "--libs", "eipc-client", PKG_CONFIG_PATH=f"{root}/usr/lib/pkgconfig").split()
    assert any(flag.startswith("-I") and flag.endswith("include/eipc") for flag in flags)
    assert [flag for flag in flags if flag.startswith("-leipc")] == ["-leipc_client", "-leipc_proto", "-leipc_proto_messages"]
    assert "-lgrpc++" in flags and "-lprotobuf" in flags


def test_the_unit_runs_what_is_installed(root):
    unit = (root / "usr/lib/systemd/system/eipc-server.service").read_text()
    (command,) = re.findall(r"^ExecStart=(\S+) (.*)$", unit, re.MULTILINE)
    assert (root / command[0].lstrip("/")).exists() and "--state-dir=/var/lib/eipc-server" in command[1]
    assert re.search(r"^StateDirectory=eipc-server$", unit, re.MULTILINE) and "DynamicUser=yes" in unit
    help = run(root / "usr/bin/eipc-server", "--help")
    defaults = (root / "etc/default/eipc-server").read_text()
    assert all(f"(Env:{name})" in help for name in re.findall(r"^#?(EIPC_\w+)=", defaults, re.MULTILINE))
    if shutil.which("systemd-analyze"):  # a machine without units of its own has more to complain of than this one
        done = subprocess.run(["systemd-analyze", "verify", str(root / "usr/lib/systemd/system/eipc-server.service")], capture_output=True, text=True,
                              check=False)
        assert not re.findall(r".*eipc-server.service:\d+: .*", done.stdout + done.stderr)


def test_packages_say_what_they_need():
    found = {path.name.split("_")[0]: path for path in PACKAGES.glob("*.deb")}
    if not found:
        pytest.skip("the packages were not made (./dev packages)")
    assert set(found) == {"eipc-server", "libeipc-client-dev", "python3-eipc"}
    fields = {name: run("dpkg-deb", "-f", path) for name, path in found.items()}
    assert "libgrpc++1.51" in fields["eipc-server"] and "procps" in fields["eipc-server"] and "Architecture: amd64" in fields["eipc-server"]
    assert "Depends: libgrpc++-dev" in fields["libeipc-client-dev"]
    assert "Architecture: all" in fields["python3-eipc"] and "python3-grpcio" in fields["python3-eipc"]
    listed = {name: run("dpkg-deb", "-c", path) for name, path in found.items()}
    assert "./usr/bin/eipc-server -> ../lib/eipc/bin/eipc-server" in listed["eipc-server"]
    assert "/eipc/cli/__main__.py" in listed["python3-eipc"] and "/tests/" not in listed["python3-eipc"]


def dpkg(root, *words):
    """dpkg on a root of its own. What the packages depend on is on the machine that runs this, not in the root."""
    return run("dpkg", f"--root={root}", "--force-depends", "--force-not-root", "--force-confold", *words, PATH="/usr/sbin:/usr/bin:/sbin:/bin")


@pytest.fixture
def installed(tmp_path):
    """A root into which dpkg has installed the packages."""
    packages = sorted(PACKAGES.glob("*.deb"))
    if not packages or shutil.which("dpkg") is None:
        pytest.skip("the packages were not made (./dev packages)")
    database = tmp_path / "var/lib/dpkg"
    for folder in ("info", "updates", "triggers"):
        (database / folder).mkdir(parents=True)
    (database / "status").touch()
    dpkg(tmp_path, "--install", *packages)
    return tmp_path


def test_what_dpkg_installs_runs(installed):
    states = run("dpkg-query", f"--admindir={installed}/var/lib/dpkg", "-W", "-f", "${Package} ${Status}\n").splitlines()
    assert states == [f"{name} install ok installed" for name in ("eipc-server", "libeipc-client-dev", "python3-eipc")]
    assert dpkg(installed, "--verify") == ""  # every file is as its package's checksums say
    path, packages = f"{installed}/usr/bin:/usr/bin:/bin", installed / "usr/lib/python3/dist-packages"
    assert re.match(r"eipc \d+\.\d+\.\d+", run(installed / "usr/bin/eipc", "--version", PATH=path))
    printed = run(sys.executable, "-c", PYTHON, PATH=path, PYTHONPATH=str(packages))
    assert f"{packages}/eipc/__init__.py\n{installed}/usr/bin/eipc-server\n(1, 26) {packages}/eipc/models/" in printed


def test_dpkg_keeps_settings_and_removes_the_rest(installed):
    settings = installed / "etc/default/eipc-server"
    settings.write_text("EIPC_SERVER_LISTEN=127.0.0.1:6000\n")
    assert "etc/default/eipc-server" in dpkg(installed, "--verify")
    dpkg(installed, "--install", *PACKAGES.glob("eipc-server_*.deb"))  # an upgrade
    assert settings.read_text() == "EIPC_SERVER_LISTEN=127.0.0.1:6000\n"
    dpkg(installed, "--remove", "eipc-server", "libeipc-client-dev", "python3-eipc")
    assert settings.exists() and [path for path in installed.rglob("*eipc*") if path.is_file() and "var/lib/dpkg" not in str(path)] == [settings]
    dpkg(installed, "--purge", "eipc-server")
    assert not settings.exists()


def test_systemd_accepts_the_installed_unit(installed):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")

    def complaints():
        done = subprocess.run(["systemd-analyze", "verify", "--recursive-errors=no", f"--root={installed}", "eipc-server.service"], capture_output=True,
                              text=True, check=False)
        return [line for line in (done.stdout + done.stderr).splitlines() if "eipc-server" in line]

    kill = installed / "bin/kill"
    kill.parent.mkdir(exist_ok=True)
    shutil.copy("/bin/true", kill)  # it is of procps, on which the package depends
    assert complaints() == []
    unit = installed / "usr/lib/systemd/system/eipc-server.service"
    unit.write_text(unit.read_text().replace("ExecStart=/usr/bin/eipc-server", "ExecStart=/usr/bin/eipc-absent"))
    assert any("eipc-absent" in line for line in complaints())
