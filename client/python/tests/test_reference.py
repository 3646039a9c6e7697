"""The reference that ./dev reference makes of docstrings and of the protocol's comments."""

import shutil
import subprocess
import sys

import pytest

from conftest import REPOSITORY


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    if shutil.which("protoc") is None:
        pytest.skip("protoc is not installed")
    out = tmp_path_factory.mktemp("reference")
    done = subprocess.run([sys.executable, REPOSITORY / "scripts" / "generate_reference.py", "--out", out], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {name: (out / f"{name}.md").read_text(encoding="utf-8") for name in ("python", "protocol")}, done.stdout


def test_the_package_is_described_by_its_docstrings(pages):
    page = pages[0]["python"]
    for words in ("### `Session(client: \"Client\", name: str, scene: str, worlds: int = 1)", "Running worlds. Used in a `with` block it is deleted at the end.",
                  "- `step(dt: float,", "## `eipc.envs`", "### `write_lerobot(folder:", "### `AsyncSession("):
        assert words in page, words


def test_every_message_and_call_is_listed_with_its_comment(pages):
    from eipc.v1 import scene_pb2, service_pb2
    page = pages[0]["protocol"]
    for module in (scene_pb2, service_pb2):
        assert all(f"### `{name}`" in page for name in module.DESCRIPTOR.message_types_by_name)
    assert all(f"| `{method}` |" in page for method in service_pb2.DESCRIPTOR.services_by_name["SimulationService"].methods_by_name)
    assert "| 5 | `expected_step` | optional `int64` | Refuse with ABORTED unless the session is at this step. Absent means any. |" in page


def test_the_command_says_what_is_not_documented(pages):
    assert "python.md: " in pages[1] and "protocol.md: " in pages[1]
