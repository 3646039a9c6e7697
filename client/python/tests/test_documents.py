"""Every block of code in the documentation is run by a test, or says that it is only shown.

Pages that are followed from the first block to the last one are in test_tutorial; here are those whose blocks stand alone, show parts,
or start what does not end by itself.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

import eipc
from conftest import CLIENT_ROOT, REPOSITORY
from eipc.v1 import scene_pb2
from google.protobuf import text_format
from proxy_fixtures import certificates  # noqa: F401  # a fixture
from test_tutorial import follow, page_blocks

LIVE_PAGE = CLIENT_ROOT / "eipc" / "viz" / "live"
# How a test names the page whose blocks it runs.
NAMED = re.compile(r'(?:follow|blocks|command)\("([\w/]+\.md)"')
RUN_ELSEWHERE = {("docs/howto/operations.md", "haproxy"): "test_viewer_proxy.py"}
# (page, first words): why no test runs the block.
NOT_RUN = {("docs/howto/kubernetes.md", "scripts/check_manifests.py"): "the schemas that it reads are not part of the repository"}


def blocks(page, language):
    return page_blocks.blocks_of(REPOSITORY, page if page == "README.md" else f"docs/{page}", language)


def run(words, cwd, programs=None, **options):
    path = f"{programs}:{os.environ['PATH']}" if programs else os.environ["PATH"]
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=300, check=False,
                          env={**os.environ, "PATH": path}, **options)


def unrun_blocks(documented, named):
    """The blocks that no test runs, in words. named: pages that tests name."""
    for block in documented:
        words = block.text.split()
        where = f"{block.page}: {' '.join(words[:3])}"
        if block.language == "":
            yield f"{where}: a block without a language (text: it is only shown)"
        elif block.language in page_blocks.SHOWN or (block.page, words[0]) in NOT_RUN:
            continue
        elif block.text.startswith("./dev") and block.language == "sh":
            commands = re.findall(r"^\./dev (\w+)", block.text, re.MULTILINE)
            if not all(re.search(rf"^cmd_{command}\(", DEV, re.MULTILINE) for command in commands):
                yield f"{where}: is no command of ./dev"
        elif (block.page, block.language) in RUN_ELSEWHERE:
            if block.page not in (CLIENT_ROOT / "tests" / RUN_ELSEWHERE[block.page, block.language]).read_text(encoding="utf-8"):
                yield f"{where}: {RUN_ELSEWHERE[block.page, block.language]} does not read it"
        elif block.page.removeprefix("docs/") not in named:
            yield f"{where}: no test follows this page"


DEV = (REPOSITORY / "dev").read_text(encoding="utf-8")


def test_every_block_is_run_or_only_shown():
    tests = [path.read_text(encoding="utf-8") for path in (CLIENT_ROOT / "tests").glob("test_*.py")]
    named = {page for text in tests for page in NAMED.findall(text)}
    documented = list(page_blocks.documented_blocks(REPOSITORY))
    assert list(unrun_blocks(documented, named)) == []
    assert set(NOT_RUN) <= {(block.page, block.text.split()[0]) for block in documented}
    planted = [page_blocks.Block("docs/" "new.md", language, text) for language, text in
               (("", "eipc X"), ("sh", "eipc X\n"), ("sh", "./dev frob\n"), ("python", "import eipc\n"), ("text", "usage"))]
    assert len(list(unrun_blocks(planted, named))) == 4


@pytest.mark.parametrize("page", ["docs/tutorial/first_grasp.md", "docs/tutorial/learn_a_grasp.md"])
def test_a_start_leaves_out_the_blocks_of_the_other(page):
    checkout, wheel = (page_blocks.commands_of(REPOSITORY, page, start) for start in (page_blocks.CHECKOUT, page_blocks.WHEEL))
    assert checkout[0].startswith("# In a checkout") and wheel[0].startswith("# With the wheel")
    common = [text for text in checkout if text in wheel]
    assert len(common) == len(checkout) - 1 and common == wheel[-len(common):]
    assert not any("build/release" in text or "/usr/bin/python3" in text for text in common)
    spent = [60.0 * (k + 1) for k in range(len(wheel))]
    lines = page_blocks.minutes(REPOSITORY, page, spent).splitlines()
    assert len(lines) == len(wheel) + 1 and lines[1].startswith("   2.00 min  `")
    assert lines[-1].split() == [f"{sum(spent) / 60:.2f}", "min", page]
    with pytest.raises(ValueError, match=f"1 of {len(wheel)} blocks of commands"):
        page_blocks.minutes(REPOSITORY, page, spent[:1])


def test_the_readme_steps_the_grasp(server_binary, eipc_binary, tmp_path):
    (program,) = blocks("README.md", "python")
    page_blocks.prepare(REPOSITORY, server_binary.resolve().parent, tmp_path)
    done = run(["/usr/bin/python3", "-c", program], tmp_path)
    assert done.returncode == 0, done.stderr
    times = [float(line.split()[0]) for line in done.stdout.splitlines()]
    np.testing.assert_allclose(times, 0.02 * np.arange(1, 101))


def test_every_block_of_the_cloth_runs(server_binary, eipc_binary, tmp_path):
    follow("howto/cloth.md", server_binary, eipc_binary, tmp_path, [("--audit --report", "--duration 0.2 --audit --report")])
    report = json.loads((tmp_path / "out" / "cloth" / "report.json").read_text())
    assert report["audit"]["intersections"] == 0 and report["steps_not_converged"] == 0


def test_every_block_of_the_fingers_runs(server_binary, eipc_binary, tmp_path):
    reduced = [("finray_plate.textproto --audit", "finray_plate.textproto --duration 0.4 --audit")]
    follow("howto/finray.md", server_binary, eipc_binary, tmp_path, reduced, on_path=True)
    report = json.loads((tmp_path / "plate.json").read_text())
    assert report["steps"] == 20 and report["audit"]["intersections"] == 0
    replayed = json.loads((tmp_path / "replay.json").read_text())
    assert replayed["steps"] == replayed["audit"]["states_checked"] == 200 and replayed["audit"]["intersections"] == 0
    assert [name for name, goal in replayed["goals"].items() if goal["reached"]] == ["placed", "standing", "at_rest"]
    holding = replayed["holding"]
    assert abs(holding["mean_vertical_force_n"] / holding["weight_n"] - 1) < 0.02


def test_every_block_of_the_dynamics_runs(server_binary, eipc_binary, tmp_path):
    (commands,) = blocks("concepts/dynamics.md", "sh")
    page_blocks.prepare(REPOSITORY, server_binary.resolve().parent, tmp_path)
    assert commands.count("--duration 2.4") == 1
    commands = commands.replace("--duration 2.4", "--duration 0.1")
    done = run(["bash", "-c", f"export EIPC_CACHE=cache\n{commands}"], tmp_path, tmp_path / "build/release/bin")
    assert done.returncode == 0, done.stderr
    assert '"overpressure_pa"' in done.stdout and '"lifted": true' in done.stdout


def test_a_condensed_body_as_the_page_has_it_is_accepted(server_binary, eipc_binary, tmp_path):
    (body,) = blocks("howto/cages.md", "textproto")
    shutil.copy(REPOSITORY / "models" / "generated" / "ball.obj", tmp_path)
    assert '"object.vtk"' in body
    scene = 'bodies { name: "ball" material { density_kg_m3: 1000 youngs_modulus_pa: 1e5 poissons_ratio: 0.3 } %s }'
    (tmp_path / "ball.textproto").write_text(scene % body.replace("object.vtk", "ball.obj"))
    done = run([eipc_binary.resolve(), "check", "ball.textproto"], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_goals_of_the_page_are_those_of_the_scene():
    (text,) = blocks("reference/eipc_run.md", "textproto")
    shown = text_format.Parse(text, scene_pb2.Scene()).goals
    scene = eipc.load_scene(str(REPOSITORY / "models" / "scenes" / "finray_plate.textproto"))
    assert len(shown) == 2 and all(goal in scene.goals for goal in shown)


def test_every_block_of_the_client_runs(server_binary, tmp_path):
    """Its installation, its grasp, and the parts of programs that follow, in what the grasp leaves."""
    (install,), (grasp, *parts) = blocks("reference/python_client.md", "sh"), blocks("reference/python_client.md", "python")
    (tmp_path / "client").mkdir()
    left_out = shutil.ignore_patterns("node_modules", "build", "*.egg-info", "__pycache__", "live")
    shutil.copytree(CLIENT_ROOT, tmp_path / "client/python", ignore=left_out)
    (tmp_path / "proto").symlink_to(REPOSITORY / "proto")
    (tmp_path / "models").symlink_to(REPOSITORY / "models")
    done = run(["bash", "-ec", install], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    given = ["targets = {}", "requests = [{'dt': 0.02}] * 6"]
    inner = "\n".join(f"        {line}" for part in parts for line in (*given, *part.splitlines()))
    environment = {"PATH": "/usr/bin:/bin", "EIPC_SERVER": str(server_binary.resolve())}
    done = subprocess.run([tmp_path / "V/bin/python", "-c", grasp + inner], cwd=tmp_path,
                          capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "CONVERGED" in done.stdout and (tmp_path / "now.png").stat().st_size > 1000


def test_the_secrets_of_kubernetes_are_made(tmp_path):
    """Without a cluster: the commands say what they would send."""
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed")
    commands = blocks("howto/kubernetes.md", "sh")[0]
    for name in ("proxy.pem", "callers"):
        (tmp_path / name).write_text("made for the test\n")
    done = run(["bash", "-ec", 'kubectl() { command kubectl "$@" --dry-run=client -o name; }\n' + commands], tmp_path)
    assert done.stdout.split() == ["namespace/eipc", "secret/eipc-credentials"], done.stderr


def command(page, begin):
    """Words of the one line of a page's blocks that begins so, without its comment."""
    lines = [line for block in blocks(page, "sh") for line in block.splitlines() if line.startswith(begin)]
    assert len(lines) == 1, lines
    return shlex.split(lines[0], comments=True)


class Running:
    """A program of a page that goes on until it is ended; said: its lines up to the first with these words."""

    def __init__(self, words, cwd, programs, until):
        environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(words, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True)
        self.said = ""
        for line in self.process.stdout:
            self.said += line
            if until in line:
                break

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)


@pytest.fixture
def programs(server_binary, eipc_binary, tmp_path):
    page_blocks.prepare(REPOSITORY, server_binary.resolve().parent, tmp_path)
    return tmp_path / "build" / "release" / "bin"


def test_commands_of_the_live_page_show_a_session(programs, tmp_path):
    if not LIVE_PAGE.exists():
        pytest.skip("the viewer's page was not built (./dev viewer)")
    with Running(command("howto/live.md", "eipc view"), tmp_path, programs, "http://") as view:
        assert re.search(r"http://127\.0\.0\.1:\d+/\?session=sessions", view.said), view.said
    (tmp_path / "access").write_text(f"token {hashlib.sha256(b'operator-a').hexdigest()} alpha operator\n")
    serve = ["--viewer=127.0.0.1:0" if word == "--viewer" else word for word in command("howto/live.md", "eipc-server")]
    settings = ["--listen=127.0.0.1:0", "--access-file=access", "--log-level=off"]
    with Running([*serve, *settings], tmp_path, programs, "viewer at") as server:
        address = re.search(r"viewer at (http://127\.0\.0\.1:\d+)/", server.said).group(1)
        assert len(serve) == 2
        ask = " ".join(f'"{word}"' for word in command("howto/live.md", "curl")).replace("http://127.0.0.1:50080", address)
        if shutil.which("curl"):
            done = run(["bash", "-ec", f"TOKEN=operator-a\n{ask}"], tmp_path)
            assert re.fullmatch(r'\{"ticket": ?"[\w+/=-]+"\}\s*', done.stdout), done.stdout + done.stderr


def test_the_command_with_the_proxy_serves(programs, server_binary, certificates, tmp_path):  # noqa: F811
    if not Path(os.environ.get("EIPC_HAPROXY", "/usr/sbin/haproxy")).exists():
        pytest.skip("haproxy is not installed")
    (programs / "eipc-server-with-proxy").symlink_to(server_binary.resolve().with_name("eipc-server-with-proxy"))
    (tmp_path / "proxy.pem").write_text((certificates / "server.pem").read_text() + (certificates / "server.key").read_text())
    (tmp_path / "callers").write_text(f"token {hashlib.sha256(b'operator-a').hexdigest()} alpha operator\n")
    for name in ("proxy.pem", "callers"):
        (tmp_path / name).chmod(0o600)
    words = command("howto/operations.md", "eipc-server-with-proxy")
    serve = ["127.0.0.1:0" if word == "0.0.0.0:50051" else word for word in words]
    with Running(serve, tmp_path, programs, "listening on") as server:
        address = re.search(r"listening on (\S+)", server.said).group(1)
        with eipc.connect(address, token="operator-a", tls=eipc.Tls(ca=certificates / "ca.pem")) as client:
            assert client.server_info().version
