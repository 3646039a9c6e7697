"""Episodes of a scene file: the policy sees observations and commands frames and drives; success is that every goal of the scene is
reached."""

from __future__ import annotations

import base64
import math
from dataclasses import replace
from typing import Any, Mapping, Optional, Protocol, Union

import grpc

from ..client import Client
from ..errors import InvalidArgumentError, NotFoundError, UnavailableError
from ..goals import GoalProgress
from ..materials import check_server
from ..observation import Observation, Observe, observation_from_message
from ..session import Session
from ..solver_report import Outcome
from ..v1 import scene_pb2, service_pb2
from .errors import EvaluationError
from .farm_session import FarmSession
from .plan import Case
from .policy import Policy
from .policy_calls import PolicyError, act, begin
from .results import ERROR, FAILURE, SUCCESS, Result
from .server_farm import Farm

# What a policy sees that does not say otherwise (`observe`, an eipc.Observe).
OBSERVE = Observe(twists=True, contact_wrenches=True, boundary_poses=True, solver_report=False)
_COMMANDS = ("targets", "trajectories", "drives")
# From good to bad.
_OUTCOMES = (Outcome.CONVERGED, Outcome.TARGET_NOT_REACHED, Outcome.ITERATION_CAP, Outcome.STALLED)


class _World(Protocol):
    """One world of a session on one server or on a farm."""

    build: str
    scene_name: str

    @property
    def address(self) -> str: ...

    @property
    def moves(self) -> int: ...

    def reset(self, observe: Observe, randomize: Optional[service_pb2.Randomize]) -> Observation: ...

    def request(self, dt: float, observe: Observe, **commands: Any) -> service_pb2.StepRequest: ...

    def send(self, request: service_pb2.StepRequest) -> Observation: ...

    def close(self) -> None: ...


class OneServer:
    """A world on one server; gone when that is."""

    def __init__(self, scene: scene_pb2.Scene, client: Client) -> None:
        self._client = client
        self._scene = client.create_scene(scene)
        self._session: Session = self._scene.create_session()
        self.build, self.scene_name = client.server_info().build, self._scene.name
        self.address, self.moves = client.address, 0

    def __repr__(self) -> str:
        return f"OneServer({self.scene_name}, at {self.address})"

    def reset(self, observe: Observe, randomize: Optional[service_pb2.Randomize]) -> Observation:
        request = service_pb2.ResetRequest(session=self._session.name, observe=observe.to_message(), randomize=randomize)
        check_server(self._client, request)
        return observation_from_message(self._client._call(self._client._stub.Reset, request, None))

    def request(self, dt: float, observe: Observe, **commands: Any) -> service_pb2.StepRequest:
        return self._session._step_request(dt, observe=observe, **commands)

    def send(self, request: service_pb2.StepRequest) -> Observation:
        request.session = self._session.name
        return observation_from_message(self._client._call(self._client._stub.Step, request, None).observation)

    def close(self) -> None:
        self._session.delete()


class OnFarm:
    """A world that goes on on another server when its own is lost."""

    def __init__(self, scene: scene_pb2.Scene, farm: Farm) -> None:
        self.session: FarmSession = farm.session(scene)
        self.build, self.scene_name = farm.build, self.session.scene_name

    @property
    def address(self) -> str:
        return self.session.address

    @property
    def moves(self) -> int:
        return self.session.moves

    def __repr__(self) -> str:
        return f"OnFarm({self.session!r})"

    def reset(self, observe: Observe, randomize: Optional[service_pb2.Randomize]) -> Observation:
        return self.session.reset(observe, randomize=randomize)

    def request(self, dt: float, observe: Observe, **commands: Any) -> service_pb2.StepRequest:
        return self.session.request(dt, observe, **commands)

    def send(self, request: service_pb2.StepRequest) -> Observation:
        return self.session.send(request)

    def close(self) -> None:
        self.session.delete()


class SceneRunner:
    """A step of the scene's schedule for each action; an episode is as long as the schedule, or max_steps steps."""

    def __init__(self, message: scene_pb2.Scene, world: _World, max_steps: int, randomize: service_pb2.Randomize) -> None:
        self._world, self._randomize = world, randomize
        self._dt = message.schedule.dt_s
        self._steps = max_steps or int(math.floor(message.schedule.duration_s / self._dt + 0.5))
        if self._steps < 1:
            raise EvaluationError("the scene has no schedule.duration_s: give --max-steps")

    def __repr__(self) -> str:
        return f"SceneRunner({self._world!r}, {self._steps} steps of {self._dt:g} s)"

    def run(self, case: Case, policy: Policy) -> Result:
        observe = _observe_of(policy)
        observation = self._start(case.seed, observe)
        actions: list[Any] = []
        digests, goals, receipt = [observation.state_digest], GoalProgress(), Receipt()
        goals.add(observation.time_s, observation.goals)
        try:
            begin(policy, case.seed)
            for step in range(self._steps):
                request = self._request(act(policy, observation, step), observe, step)
                actions.append(_kept(request))
                observation = self._send(request, step)
                digests.append(observation.state_digest)
                goals.add(observation.time_s, observation.goals)
                receipt.add(observation)
            outcome, reason = SUCCESS if goals.reached else FAILURE, ""
        except PolicyError as error:
            outcome, reason = ERROR, str(error)
        return Result(case.index, case.scene, case.seed, outcome, reason, None, len(actions), {"goals": goals.results()}, tuple(actions),
                      tuple(digests), self._world.scene_name, self._world.build, receipt=receipt.figures)

    def repeat(self, result: Result) -> tuple[str, ...]:
        digests = [self._start(result.seed, Observe(poses=False, solver_report=False, state_digest=True)).state_digest]
        for action in result.actions:
            request = service_pb2.StepRequest.FromString(base64.b64decode(action))
            request.observe.state_digest = True
            digests.append(self._world.send(request).state_digest)
        return tuple(digests)

    def close(self) -> None:
        self._world.close()

    @property
    def address(self) -> str:
        return self._world.address

    @property
    def moves(self) -> int:
        return self._world.moves

    def _start(self, seed: int, observe: Observe) -> Observation:
        if not (self._randomize.ranges or self._randomize.materials):
            return self._world.reset(observe, None)
        drawn = service_pb2.Randomize()
        drawn.CopyFrom(self._randomize)
        drawn.seed = seed
        return self._world.reset(observe, drawn)

    def _request(self, action: Any, observe: Observe, step: int) -> service_pb2.StepRequest:
        commands = {} if action is None else action
        where = f"the policy's action of step {step}"
        if not isinstance(commands, Mapping):
            raise PolicyError(f"{where} is a {type(action).__name__}; it is None or a mapping with {', '.join(_COMMANDS)}")
        unknown = sorted(set(commands) - set(_COMMANDS))
        if unknown:
            raise PolicyError(f"{where} has {unknown[0]!r}; there are {', '.join(_COMMANDS)}")
        try:
            return self._world.request(self._dt, observe, **commands)
        except (AttributeError, TypeError, ValueError) as error:
            raise PolicyError(f"{where} is no command: {type(error).__name__}: {error}") from error

    def _send(self, request: service_pb2.StepRequest, step: int) -> Observation:
        try:
            return self._world.send(request)
        except (InvalidArgumentError, NotFoundError) as error:
            if isinstance(error, NotFoundError) and error.reason == "SESSION_NOT_FOUND":
                raise UnavailableError(error.message, grpc.StatusCode.UNAVAILABLE) from error
            raise PolicyError(f"the policy's action of step {step} was refused: {error.message}") from error


class Receipt:
    """The worst figure of each kind over the steps of an episode."""

    def __init__(self) -> None:
        self.figures: dict[str, Union[float, int, str]] = {}

    def __repr__(self) -> str:
        return f"Receipt({self.figures})"

    def add(self, observation: Observation) -> None:
        one = observation.step_receipt
        if one is None:
            return
        seen = self.figures
        self._worse("min_distance_m", one.min_distance_m, min)
        self._worse("residual_m_s", one.residual_m_s, max)
        self._worse("target_error_m", one.target_error_m, max)
        self._worse("inverted_elements", one.inverted_elements, max)
        seen["newton_iterations"] = int(seen.get("newton_iterations", 0)) + one.newton_iterations
        worst = max(Outcome[str(seen.get("outcome", "CONVERGED"))], one.outcome, key=_badness)
        seen["outcome"] = worst.name
        seen["steps_not_converged"] = int(seen.get("steps_not_converged", 0)) + (one.outcome is not Outcome.CONVERGED)

    def _worse(self, name: str, value: Any, choose: Any) -> None:
        self.figures[name] = choose(value, self.figures.get(name, value))


def _badness(outcome: Outcome) -> int:
    return _OUTCOMES.index(outcome) if outcome in _OUTCOMES else len(_OUTCOMES)


def _observe_of(policy: Policy) -> Observe:
    observe = getattr(policy, "observe", OBSERVE)
    if not isinstance(observe, Observe):
        raise EvaluationError(f"the policy's `observe` is a {type(observe).__name__}, not an eipc.Observe")
    return replace(observe, goals=True, state_digest=True, step_receipt=True)


def _kept(request: service_pb2.StepRequest) -> str:
    """What is needed to repeat it, with every bit of its numbers: the message's bytes in base64 (JSON would lose the sign of -0)."""
    kept = service_pb2.StepRequest()
    kept.CopyFrom(request)
    for name in ("session", "observe", "request_id"):
        kept.ClearField(name)
    return base64.b64encode(kept.SerializeToString(deterministic=True)).decode()
