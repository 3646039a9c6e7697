"""The package as a whole: its types, its imports, and the syntax of the oldest Python that it declares."""

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from conftest import CLIENT_ROOT

PACKAGE = CLIENT_ROOT / "eipc"
SOURCES = sorted(PACKAGE.rglob("*.py"))
# Imports each of the modules named in a process that has imported none of the package.
IMPORT_EACH = """
import importlib, os, sys, numpy
for name in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        importlib.import_module(name)
        sys.stdout.flush()
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        sys.exit(f"{name} cannot be imported first")
"""
# A slip of each kind that the types are there to find.
WRONG = """
import eipc

client: eipc.Client = eipc.connect(50051)
step: str = client.session("sessions/1").step(0.01).step
eipc.Observe(pose=True)
"""


def name_of(source: Path, root: Path = PACKAGE) -> str:
    return ".".join(source.relative_to(root.parent).with_suffix("").parts).removesuffix(".__init__")


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    if shutil.which("mypy") is None:
        pytest.skip("mypy is not installed (./dev setup types)")
    cache = tmp_path_factory.mktemp("mypy")

    def check(*arguments):
        return subprocess.run(["mypy", "--config-file", CLIENT_ROOT / "pyproject.toml", "--cache-dir", cache, *arguments], capture_output=True,
                              text=True, check=False, cwd=CLIENT_ROOT, env={**os.environ, "MYPYPATH": str(CLIENT_ROOT)})

    return check


def test_the_package_is_strictly_typed(mypy):
    result = mypy("eipc")
    assert result.returncode == 0, result.stdout
    assert "no issues found" in result.stdout


def test_a_users_slips_are_found(mypy, tmp_path):
    (tmp_path / "slips.py").write_text(WRONG)
    result = mypy(tmp_path / "slips.py")
    for line, kind in ((4, "arg-type"), (5, "assignment"), (6, "call-arg")):
        assert any(f"slips.py:{line}: error" in said and f"[{kind}]" in said for said in result.stdout.splitlines()), result.stdout


def imported(tree: ast.Module, module: str, is_package: bool) -> "set[str]":
    """What a module imports when it is imported itself, absolute names; not what is imported for types alone or in functions."""
    nodes = list(tree.body)
    found = set()
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            nodes += node.body + node.orelse
        elif isinstance(node, ast.Try):
            nodes += node.body + node.orelse + node.finalbody
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            package = module if is_package else module.rpartition(".")[0]
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module
            found |= {f"{base}.{alias.name}" for alias in node.names} | {base}
    return found


def graph(root: Path) -> "dict[str, set[str]]":
    """module -> modules of the package that it imports; a package's own name stands for its __init__."""
    sources = {name_of(source, root): source for source in root.rglob("*.py")}
    edges = {}
    for name, source in sources.items():
        wanted = imported(ast.parse(source.read_text()), name, source.name == "__init__.py") & set(sources)
        # `from . import x` in a module needs x; that the package is imported before its modules is no import of the module's.
        edges[name] = {other for other in wanted if not name.startswith(f"{other}.") and other != name}
    return edges


def test_imports_have_no_circles():
    edges = graph(PACKAGE)
    assert "eipc.geometry" in edges["eipc.observation"] and "eipc.client" in edges["eipc"]
    list(TopologicalSorter(edges).static_order())


def test_a_circle_would_be_found(tmp_path):
    copy = tmp_path / "eipc"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    with (copy / "arrays.py").open("a") as file:
        file.write("\nfrom . import observation\n")
    with pytest.raises(CycleError) as raised:
        list(TopologicalSorter(graph(copy)).static_order())
    assert {"eipc.arrays", "eipc.observation"} <= set(raised.value.args[1])


def test_every_module_can_be_imported_first():
    with_vtk = importlib.util.find_spec("vtkmodules") is not None
    names = [name_of(source) for source in SOURCES
             if source.name != "__main__.py" and (with_vtk or source.parent.name != "drawing")]  # what draws is a process of its own
    assert len(names) > 30
    environment = {**os.environ, "PYTHONPATH": str(CLIENT_ROOT)}
    result = subprocess.run([sys.executable, "-W", "error", "-c", IMPORT_EACH, *names], capture_output=True, text=True, check=False,
                            env=environment)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("source", SOURCES, ids=name_of)
def test_sources_are_in_the_syntax_of_the_oldest_python_declared(source):
    assert 'requires-python = ">=3.9"' in (CLIENT_ROOT / "pyproject.toml").read_text()
    ast.parse(source.read_text(), feature_version=(3, 9))
