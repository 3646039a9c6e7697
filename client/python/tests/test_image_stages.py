"""What docker/stages.sh puts into an image, of a made-up build."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def built(tmp_path):
    """A checkout in which programs were built; that of the server is another one."""
    programs = tmp_path / "checkout" / "build" / "release" / "bin"
    programs.mkdir(parents=True)
    for name in ("eipc-server", "eipc-camera.so"):
        shutil.copy("/bin/true", programs / name)
    for name in ("eipc-server-with-proxy", "eipc-server-messages.lua"):
        (programs / name).touch()
    (tmp_path / "checkout" / "LICENSE").touch()
    return tmp_path / "checkout"


def collect(checkout, out):
    for tool in ("dpkg", "ldd", "strip"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    subprocess.run([ROOT / "docker" / "stages.sh", "collect", checkout, out], check=True)
    return out / "usr" / "local"


def test_the_image_carries_the_page_where_it_was_built(built, tmp_path):
    page = built / "client" / "python" / "eipc" / "viz" / "live"
    page.mkdir(parents=True)
    for name in ("index.html", "viewer.js", "viewer.css"):
        (page / name).write_text(name)
    local = collect(built, tmp_path / "out")
    assert {file.name for file in (local / "share" / "eipc" / "viewer").iterdir()} == {"index.html", "viewer.js", "viewer.css"}
    assert (local / "bin" / "eipc-server").exists() and (local / "bin" / "eipc-camera.so").exists()


def test_the_image_is_made_without_a_page_as_well(built, tmp_path):
    assert not (collect(built, tmp_path / "out") / "share" / "eipc" / "viewer").exists()
