"""How objects are printed in a console: every class says what it is, briefly."""

import dataclasses
import enum
import importlib.util
import inspect

import numpy as np
import pytest

import eipc
from conftest import CLIENT_ROOT
from eipc.shown import in_short
from small_grasp import small_task
from test_real_server import cube_scene

PACKAGE = CLIENT_ROOT / "eipc"
MODULES = [".".join(path.relative_to(CLIENT_ROOT).with_suffix("").parts).removesuffix(".__init__") for path in sorted(PACKAGE.rglob("*.py"))
           if path.parent.name != "v1" and path.stem != "__main__"
           # What draws is imported by a process of its own, and needs VTK.
           and (path.parent.name != "drawing" or importlib.util.find_spec("vtkmodules") is not None)]


def classes():
    for name in MODULES:
        for made in vars(importlib.import_module(name)).values():
            if inspect.isclass(made) and made.__module__ == name and not made.__name__.startswith("_"):
                yield made


def test_every_public_class_says_what_it_is():
    silent = [f"{made.__module__}.{made.__name__}" for made in classes()
              if made.__repr__ is object.__repr__ and not issubclass(made, (BaseException, enum.Enum)) and not getattr(made, "_is_protocol", False)]
    assert silent == []


def test_arrays_do_not_flood_the_console():
    """Dataclasses with arrays show their shapes."""
    long = [f"{made.__module__}.{made.__name__}" for made in classes()
            if dataclasses.is_dataclass(made) and hasattr(made.__repr__, "__wrapped__")
            and any("ndarray" in str(field.type) for field in dataclasses.fields(made))]
    assert long == []


def test_short_values_are_shown_and_long_ones_told():
    assert in_short(np.array([0.1, 2])) == "[0.1, 2]" and in_short(np.zeros((34, 3))) == "<34x3 float64>"
    assert in_short(b"abc") == "<3 bytes>" and in_short((1, 2)) == "(1, 2)" and in_short([0.0] * 9) == "<9 float>"
    assert in_short({("a", "b"): 1, "c": 2}) == "{a/b, c}" and in_short({k: k for k in range(9)}) == "{0, 1, 2, 3, ... 9 in all}"
    assert repr(eipc.Pose([0, 0, 0.1])) == "Pose(position=[0, 0, 0.1], orientation=[1, 0, 0, 0])"


def test_objects_of_a_session(server_binary):
    with eipc.launch(server_binary) as server, server.client() as client:
        assert repr(server) == f"ServerProcess({server.address}, running)" and repr(client) == f"Client({server.address})"
        scene = client.create_scene(cube_scene())
        assert repr(scene) == f"Scene({scene.name}, 'cube', 3 bodies, {scene.summary.unknowns} unknowns)"
        with scene.create_session(worlds=2) as session:
            assert repr(session) == f"Session({session.name}, of {scene.name}, 2 worlds, at {server.address})"
            with session.stream() as stream:
                seen = stream.step(0.01, observe=eipc.Observe.all())
                assert repr(stream) == f"StepStream(of {session.name}, at step 1, 0 in flight)"
        from eipc.envs import EipcVectorEnv
        with EipcVectorEnv(small_task, 2, server=client) as env:
            assert repr(env) == f"EipcVectorEnv(2 worlds of GraspTask('cube' held by left, right), NEXT_STEP, at {server.address})"
            for part in (env.worlds, env._observations, env._renderer, env.task.layout, env.task.gripper, env.worlds.state, env.worlds._history):
                assert len(repr(part)) < 400 and " object at 0x" not in repr(part)
    assert repr(server) == "ServerProcess(" + server.address + ", ended with status 0)"
    for value in (seen, seen.bodies["cube"], seen.solver_report, seen.step_receipt, scene.summary, scene.bodies["cube"], scene.summary):
        assert len(repr(value)) < 1000, repr(value)
    assert "cage_positions=<8x3 float64>" in repr(seen.bodies["cube"]) and "bodies={cube, slab, pusher}" in repr(seen)


@pytest.mark.parametrize("gymnasium", [False])
def test_environments_without_gymnasium(gymnasium):
    from eipc.envs.gym_api import _Environment
    assert repr(_Environment()) == "_Environment(render_mode=None)"
