"""Parts of `./dev validate learning` on the real server, with few episodes; the whole is ./dev validate's business."""

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import REPOSITORY


def validate(part, server_binary, eipc_binary, tmp_path):
    """Records by their names, and the page."""
    done = subprocess.run([sys.executable, REPOSITORY / "tests/validate/run_validate.py", f"learning.{part}", "--server", server_binary, "--eipc",
                           eipc_binary, "--figures", tmp_path, "--json", tmp_path / "records.json"], capture_output=True, text=True, timeout=300,
                          check=False, env={**os.environ, "EIPC_LEARNING_SCALE": "0.02"})
    assert done.returncode in (0, 1), done.stderr
    records = json.loads((tmp_path / "records.json").read_text())["records"]
    return {record["name"].removeprefix(f"learning.{part}."): record for record in records}, (tmp_path / f"learning_{part}.md").read_text()


@pytest.mark.parametrize("part, some", [("killed_recorder", "killed_in_an_episode"), ("digests", "different_after_a_restart"),
                                        ("isolation", "step.others_touched"), ("killed_server", "different_files")])
def test_nothing_is_lost_or_touched(part, some, server_binary, eipc_binary, tmp_path):
    records, page = validate(part, server_binary, eipc_binary, tmp_path)
    assert some in records and [name for name, record in records.items() if not record["pass"]] == []
    assert f"`EIPC_LEARNING_SCALE=0.02 ./dev validate learning.{part}`" in page and some in page


def test_a_page_is_followed(server_binary, eipc_binary, tmp_path, monkeypatch):
    monkeypatch.setenv("EIPC_LEARNING_PAGES", "joints,cloth")
    records, page = validate("documents", server_binary, eipc_binary, tmp_path)
    assert "`EIPC_LEARNING_SCALE=0.02 EIPC_LEARNING_PAGES=joints,cloth ./dev validate learning.documents`" in page
    assert records["pages"]["value"] == 2, records
    assert records["failed"]["pass"] and records["minutes"]["value"] > 0
    assert re.search(r"\| docs/howto/joints.md \| 4 \| [\d.]+ \|", page)


def test_all_pages_are_followed_in_full(monkeypatch):
    """Those that the tests follow from the first block to the last one."""
    for folder in ("validate", "support"):
        monkeypatch.syspath_prepend(str(REPOSITORY / "tests" / folder))
    study = importlib.import_module("learning_documents")
    tests = [path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py")]
    followed = {f"docs/{page}" for text in tests for page in re.findall(r'follow\("(\w+/\w+\.md)"', text)}
    assert followed == {*study.PAGES, study.WHEEL, study.TUTORIAL}


def test_recording_changes_no_bit_and_its_cost_is_judged(server_binary, eipc_binary, tmp_path):
    """Whether it is low enough depends on the machine; here the figures must be there and be possible."""
    records, _ = validate("recorder", server_binary, eipc_binary, tmp_path)
    assert records["different_states"]["value"] == 0 and records["steps"]["value"] == 200
    cage_bytes = 3 * 8 * 34  # at least: the positions of the bear's cage
    assert cage_bytes < records["bytes_a_step"]["value"] < 1e5
    assert records["cost"]["target"] == records["cost_of_the_steps"]["target"] == "<= 0.02"
    assert records["cost"]["value"] > -0.5 and records["begin_and_end_over_a_step"]["value"] > 0
