"""The blocks of docs/tutorial/first_grasp.md, saved and run in order as the page says."""

import json
import os
import re
import subprocess

from conftest import REPOSITORY

PAGE = REPOSITORY / "docs" / "tutorial" / "first_grasp.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def script():
    """One shell script of the page: blocks that begin with a file's name are saved under it, `./dev` has been run."""
    lines = ["set -euo pipefail"]
    for language, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if language == "sh":
            if not text.startswith("./dev"):
                lines.append(text)
            continue
        name = re.match(r"# ([\w.]+)", text).group(1)
        lines.append(f"cat >{name} <<'END OF {name}'\n{text}END OF {name}")
    return "\n".join(lines)


def test_every_block_of_the_first_grasp_runs(server_binary, eipc_binary, tmp_path):
    programs = tmp_path / "build" / "release" / "bin"
    programs.mkdir(parents=True)
    (programs / "eipc").symlink_to(eipc_binary.resolve())
    (programs / "eipc-server").symlink_to(server_binary.resolve())
    for folder in ("models", "client"):
        (tmp_path / folder).symlink_to(REPOSITORY / folder)
    environment = {**os.environ, "EIPC_CACHE": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(["bash", "-c", script()], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stdout + result.stderr
    made = tmp_path / "out" / "first_grasp"
    settled = json.loads((made / "settle.json").read_text())
    assert settled["audit"]["intersections"] == 0 and settled["steps_not_converged"] == 0
    lines = [line for line in result.stdout.splitlines() if "mug at" in line]
    heights = [float(re.search(r"mug at ([\d.]+) m", line).group(1)) for line in lines]
    assert len(lines) == 6 and all("CONVERGED" in line for line in lines)
    assert heights[-1] - heights[0] > 0.045  # of the 0.05 m that the fingers rise
    assert (made / "grasp.png").stat().st_size > 10000
