"""The parts of check_vector_env: each raises VectorEnvError with what was expected and what came."""

from __future__ import annotations

import copy
from typing import Any, Mapping, Optional

import numpy as np

_MODES = ("NEXT_STEP", "SAME_STEP", "DISABLED")


class VectorEnvError(AssertionError):
    """A vector environment breaks the contract; the message says what was expected, what came, and of which world."""


def require(condition: Any, message: str) -> None:
    if not condition:
        raise VectorEnvError(message)


class Trial:
    """An environment under test: resets and steps it, and checks the form of every answer."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.count: int = env.num_envs
        self.mode: str = _mode(env)
        self.space = env.observation_space
        self.observation: Any = None

    def __repr__(self) -> str:
        return f"Trial({self.env!r}, {self.mode})"

    def reset(self, seed: Optional[int] = None, mask: Optional[np.ndarray] = None) -> dict[str, Any]:
        """Returns the info; the observation is kept."""
        options = None if mask is None else {"reset_mask": mask}
        answer = self.env.reset(seed=seed, options=options)
        require(isinstance(answer, tuple) and len(answer) == 2,
                f"reset() must return (observations, info), and returned {_kind(answer)}")
        self.observation = answer[0]
        self._check_observation("reset()")
        check_info(answer[1], self.count, "reset()")
        return answer[1]

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Returns rewards, terminations, truncations and info; the observation is kept."""
        answer = self.env.step(actions)
        require(isinstance(answer, tuple) and len(answer) == 5,
                f"step() must return (observations, rewards, terminations, truncations, info), and returned {_kind(answer)}")
        self.observation, rewards, terminated, truncated, info = answer
        self._check_observation("step()")
        _check_vector(rewards, self.count, "rewards", "fiu")
        require(np.isfinite(rewards).all(), f"rewards must be finite, and are {rewards}")
        _check_vector(terminated, self.count, "terminations", "b")
        _check_vector(truncated, self.count, "truncations", "b")
        check_info(info, self.count, "step()")
        return rewards, terminated, truncated, info

    def _check_observation(self, where: str) -> None:
        if self.observation not in self.space:
            raise VectorEnvError(f"observations of {where} are not in observation_space: {_misfit(self.space, self.observation)}")


def attributes(env: Any) -> None:
    """num_envs, spaces, metadata."""
    for name in ("num_envs", "single_observation_space", "single_action_space", "observation_space", "action_space", "metadata"):
        require(hasattr(env, name), f"the environment has no attribute {name}")
    require(isinstance(env.num_envs, (int, np.integer)) and env.num_envs >= 1, f"num_envs must be a whole number >= 1, and is {env.num_envs!r}")
    _mode(env)
    for single, batch, name in ((env.single_observation_space, env.observation_space, "observation_space"),
                                (env.single_action_space, env.action_space, "action_space")):
        sample, samples = single.sample(), batch.sample()
        for world in range(env.num_envs):
            one = _row(samples, world, env.num_envs, name)
            require(one in single, f"{name} must be num_envs values of single_{name}, stacked: row {world} of a sample is "
                    f"{_form(one)}, and single_{name} has {_form(sample)}")


def first_reset(trial: Trial, seed: int) -> None:
    """A seeded reset; the space's own seed must not matter."""
    trial.reset(seed)
    kept = copy.deepcopy(trial.observation)
    earlier = trial.observation
    trial.env.action_space.seed(seed)
    trial.step(trial.env.action_space.sample())
    require(same(kept, earlier), "step() wrote into the observations that reset() had returned: return arrays of the caller's own")


def worlds_differ(trial: Trial, seed: int) -> None:
    """Where seeds decide how episodes begin, the worlds of one seed begin in several states."""
    trial.reset(seed)
    first = copy.deepcopy(trial.observation)
    trial.reset(seed + 1)
    if trial.count == 1 or same(first, trial.observation):
        return
    rows = [_row(first, world, trial.count, "observation") for world in range(trial.count)]
    require(not all(same(rows[0], row) for row in rows[1:]),
            "all worlds begin alike after reset(seed=s), although other seeds begin elsewhere: give each world a seed of its own, s + i")


def stepping(trial: Trial, seed: int, steps: int) -> dict[str, int]:
    """Random actions, with the rules of autoreset; in DISABLED mode worlds whose episode is over are reset by mask."""
    trial.reset(seed)
    trial.env.action_space.seed(seed)
    over = np.zeros(trial.count, dtype=bool)
    seen = {"steps": 0, "episodes": 0, "terminations": 0, "truncations": 0}
    for step in range(steps):
        if trial.mode == "DISABLED" and over.any():
            trial.reset(mask=over)
            over = np.zeros(trial.count, dtype=bool)
        earlier, kept = trial.observation, copy.deepcopy(trial.observation)
        rewards, terminated, truncated, info = trial.step(trial.env.action_space.sample())
        require(same(kept, earlier), f"step {step} wrote into the observations of the step before: return arrays of the caller's own")
        if trial.mode == "NEXT_STEP":
            _check_next_step(over, rewards, terminated | truncated, step)
        over = terminated | truncated
        if trial.mode == "SAME_STEP":
            _check_same_step(trial, over, info, step)
        seen["steps"] += 1
        seen["episodes"] += int(over.sum())
        seen["terminations"] += int(terminated.sum())
        seen["truncations"] += int(truncated.sum())
    return seen


def reproducible(trial: Trial, again: Trial, seed: int, steps: int) -> None:
    """Equal seeds and actions give equal observations, rewards, ends and infos, but for random numbers of no seed."""
    runs = []
    for run in (trial, again):
        run.env.action_space.seed(seed)
        info = run.reset(seed)
        records: list[tuple[Any, ...]] = [(copy.deepcopy(run.observation), info)]
        over = np.zeros(run.count, dtype=bool)
        for _ in range(steps):
            if run.mode == "DISABLED" and over.any():
                break
            answer = run.step(run.env.action_space.sample())
            over = answer[1] | answer[2]
            records.append((copy.deepcopy(run.observation), *answer))
        runs.append(records)
    names = ("observations", "rewards", "terminations", "truncations", "info")
    for step, (one, two) in enumerate(zip(*runs)):
        for name, a, b in zip(names if step else ("observations", "info"), one, two):
            what = "reset(seed=s)" if step == 0 else f"step {step} after reset(seed=s) and the same actions"
            if not same(a, b):
                raise VectorEnvError(f"the {name} of {what} differ from one run to the next: {difference(a, b)}")


def partial_reset(trial: Trial, seed: int) -> None:
    """options["reset_mask"] begins episodes of some worlds and leaves the others as they are."""
    if trial.count == 1:
        return
    trial.reset(seed)
    trial.env.action_space.seed(seed)
    _, terminated, truncated, _ = trial.step(trial.env.action_space.sample())
    before = copy.deepcopy(trial.observation)
    mask = np.arange(trial.count) % 2 == 0
    info = trial.reset(seed=seed, mask=mask.copy())
    for world in np.flatnonzero(~mask):
        require(same(_row(before, world, trial.count, "observation"), _row(trial.observation, world, trial.count, "observation")),
                f"reset with reset_mask changed the observation of world {world}, which the mask leaves out")
    for key, value in info.items():
        if key.startswith("_"):
            require(not (value & ~mask).any(), f"info[{key!r}] of a partial reset is set for worlds that were not reset")


def rendering(trial: Trial) -> None:
    """A picture a world, of the form of render_mode."""
    mode = getattr(trial.env, "render_mode", None)
    require(mode is None or mode in trial.env.metadata.get("render_modes", []),
            f'render_mode {mode!r} is not in metadata["render_modes"]')
    if mode not in ("rgb_array", "depth_array"):
        return
    frames = trial.env.render()
    require(isinstance(frames, (tuple, list, np.ndarray)) and len(frames) == trial.count,
            f"render() must return a picture a world, {trial.count}, and returned {_kind(frames)}")
    for world, frame in enumerate(frames):
        right = isinstance(frame, np.ndarray) and (
            frame.ndim == 3 and frame.shape[2] == 3 and frame.dtype == np.uint8 if mode == "rgb_array" else frame.ndim == 2)
        require(right, f"the {mode} of world {world} must be {'[h,w,3] of uint8' if mode == 'rgb_array' else '[h,w]'}, and is {_form(frame)}")


def check_info(info: Any, count: int, where: str) -> None:
    """Every key has a mask `_key` of bool [num_envs], and arrays with a row a world."""
    require(isinstance(info, dict), f"info of {where} must be a dict, and is {_kind(info)}")
    for key, value in info.items():
        if key.startswith("_"):
            require(key[1:] in info, f"info of {where} has the mask {key!r} and no {key[1:]!r}")
            continue
        mask = info.get(f"_{key}")
        require(mask is not None, f"info of {where} has {key!r} and no mask '_{key}', which says for which worlds it is given")
        require(isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.shape == (count,),
                f"info['_{key}'] of {where} must be bool of shape ({count},), and is {_form(mask)}")
        if isinstance(value, dict):
            check_info(value, count, f"{where}[{key!r}]")
        else:
            require(isinstance(value, np.ndarray) and value.shape[:1] == (count,),
                    f"info[{key!r}] of {where} must be an array with {count} rows, and is {_form(value)}")


def same(a: Any, b: Any) -> bool:
    """Equal in structure, type, shape and every value; NaN equals NaN."""
    if isinstance(a, Mapping) or isinstance(b, Mapping):
        return isinstance(a, Mapping) and isinstance(b, Mapping) and a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (tuple, list)) or isinstance(b, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        if a.dtype == object:
            return all(map(same, a.flat, b.flat))
        return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    return type(a) is type(b) and bool(a == b or (a != a and b != b))


def difference(a: Any, b: Any) -> str:
    """The first place where two values part."""
    if isinstance(a, Mapping) and isinstance(b, Mapping) and a.keys() == b.keys():
        return next(f"{key!r}: {difference(a[key], b[key])}" for key in a if not same(a[key], b[key]))
    return f"{a!r:.200} and {b!r:.200}"


def _check_next_step(over: np.ndarray, rewards: np.ndarray, over_now: np.ndarray, step: int) -> None:
    for world in np.flatnonzero(over):
        require(rewards[world] == 0 and not over_now[world],
                f"NEXT_STEP: the episode of world {world} was over, so step {step} must reset it, with reward 0 and neither termination nor "
                f"truncation; it has reward {rewards[world]} and {'is' if over_now[world] else 'is not'} over")


def _check_same_step(trial: Trial, over: np.ndarray, info: dict[str, Any], step: int) -> None:
    if not over.any():
        require("final_obs" not in info or not info["_final_obs"].any(), f'SAME_STEP: step {step} has info["final_obs"], and no episode was over')
        return
    for key in ("final_obs", "final_info"):
        require(key in info, f'SAME_STEP: episodes were over at step {step}, and info has no "{key}"')
        require(np.array_equal(info[f"_{key}"], over), f'SAME_STEP: info["_{key}"] of step {step} must say which episodes were over, {over.tolist()}')
    for world in np.flatnonzero(over):
        last = info["final_obs"][world]
        require(last in trial.env.single_observation_space, f'info["final_obs"][{world}] is not in single_observation_space: {_form(last)}')
        begun = _row(trial.observation, world, trial.count, "observation")
        require(not same(last, begun), f"SAME_STEP: the episode of world {world} was over at step {step}, and its observation is still the last one, "
                "not the first of the next episode")


def _mode(env: Any) -> str:
    metadata = getattr(env, "metadata", None)
    require(isinstance(metadata, Mapping), "metadata must be a dict")
    mode = dict(metadata or {}).get("autoreset_mode")
    name = getattr(mode, "name", None)
    require(name in _MODES, f'metadata["autoreset_mode"] must be a member of AutoresetMode ({", ".join(_MODES)}), and is {mode!r}')
    return str(name)


def _check_vector(values: Any, count: int, what: str, kinds: str) -> None:
    expected = "bool" if kinds == "b" else "numbers"
    require(isinstance(values, np.ndarray) and values.shape == (count,) and values.dtype.kind in kinds,
            f"{what} must be an array of {expected} of shape ({count},), and are {_form(values)}")


def _row(values: Any, world: int, count: int, what: str) -> Any:
    if isinstance(values, Mapping):
        return {key: _row(value, world, count, what) for key, value in values.items()}
    if isinstance(values, tuple):
        return tuple(_row(value, world, count, what) for value in values)
    require(len(values) == count, f"{what} must have {count} rows, one a world, and has {_form(values)}")
    return values[world]


def _misfit(space: Any, value: Any) -> str:
    """Why a value is not in a space, by its bounds and forms."""
    if isinstance(value, Mapping) and hasattr(space, "keys"):
        if set(value) != set(space.keys()):
            return f"keys {sorted(value)} instead of {sorted(space.keys())}"
        return next((f"{key!r}: {_misfit(space[key], value[key])}" for key in value if value[key] not in space[key]), "its parts are")
    if not isinstance(value, np.ndarray) or value.shape != space.shape or value.dtype != space.dtype:
        return f"expected shape {space.shape} of {space.dtype}, and came {_form(value)}"
    if hasattr(space, "low"):
        outside = np.argwhere(~((value >= space.low) & (value <= space.high)))
        if len(outside):
            at = tuple(int(i) for i in outside[0])
            return f"value {value[at]} at {at} is outside [{space.low[at]}, {space.high[at]}]"
    return "the space does not contain it"


def _form(value: Any) -> str:
    return f"shape {value.shape} of {value.dtype}" if isinstance(value, (np.ndarray, np.generic)) else _kind(value)


def _kind(value: Any) -> str:
    return f"{type(value).__name__} of length {len(value)}" if hasattr(value, "__len__") and not isinstance(value, str) else f"{value!r:.80}"
