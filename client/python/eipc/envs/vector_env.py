"""A vector environment: the worlds of one session, stepped together."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np

from ..client import Client
from ..errors import EipcError
from ..recorder import Recorder
from . import gym_api
from .infos import masked
from .observations import Groups, Observations, row
from .recording import EpisodeRecording
from .rendering import RENDER_MODES, Renderer
from .servers import Connection, Server
from .task import Episodes, Score, Task
from .worlds import Worlds

Seeds = Union[None, int, Sequence[Optional[int]]]
_RESET_ATTEMPTS = 3


class EipcVectorEnv(gym_api.VectorEnv):
    """num_envs worlds of a task in Gymnasium's terms; Gymnasium need not be installed.

    Rewards are differences of the task's potential, so that they add up to what an episode reached, plus 1 when it ends in
    success, less action_cost times the mean square of the action. An episode terminates when the goal has been met for
    hold_steps actions, and is truncated after max_episode_steps or when its world fails, which touches no other world.
    `info` has, for every world: is_success, elapsed_steps, state_digest, failed, the task's figures, and failure (words)
    where it failed.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES)}

    def __init__(self, task: Callable[[Client], Task], num_envs: int = 1, *, observations: Groups = "state", keypoints: int = 16,
                 max_episode_steps: Optional[int] = None, autoreset_mode: Any = "NEXT_STEP", render_mode: Optional[str] = None,
                 render_size: tuple[int, int] = (320, 240), server: Server = None, threads: int = 1, snapshot_every: int = 50,
                 action_cost: float = 0.01, record: Union[None, str, Path, Recorder] = None) -> None:
        """task: makes the task on a server. observations: see Observations. max_episode_steps: default the task's; 0: no limit.
        server: None for one of this process that environments share, or an address, a Client, or what eipc.launch()
        returned. threads: inside the step of one world. snapshot_every: steps after which the worlds are saved, so that
        they go on from there should the server end; 0: they go on from the start of their episodes. Raises ValueError,
        EipcError."""
        if num_envs < 1:
            raise ValueError(f"num_envs is {num_envs}; it must be at least 1")
        if render_mode not in (None, *RENDER_MODES):
            raise ValueError(f"render_mode is {render_mode!r}; it is None, " + " or ".join(RENDER_MODES))
        self.num_envs, self.render_mode, self.action_cost = num_envs, render_mode, action_cost
        self.autoreset_mode = gym_api.autoreset_mode(autoreset_mode)
        self._connection = Connection(server)
        self.recording: Optional[EpisodeRecording] = None
        try:
            self.task = task(self._connection.client)
            self._observations = Observations(self.task, observations, keypoints)
            self.task.layout = self.task.layout.with_cages(self._observations.cages)
            if record is not None:
                self.recording = EpisodeRecording(record, num_envs, self.task, self._connection.client)
                self.task.layout = self.recording.layout
            self.worlds = Worlds(self._connection, self.task.scene, num_envs, self.task.gripper.frames, self.task.layout,
                                 self.task.timing.dt_s, threads, snapshot_every)
            self._prepare(max_episode_steps)
        except BaseException:
            if self.recording is not None:
                self.recording.close()
            self._connection.close()
            raise
        self._renderer = Renderer(self.worlds, self.task, render_size)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode, "render_fps": self.task.timing.fps}

    def __repr__(self) -> str:
        return f"EipcVectorEnv({self.num_envs} worlds of {self.task!r}, {self.autoreset_mode.name}, at {self._connection.client.address})"

    def _prepare(self, max_episode_steps: Optional[int]) -> None:
        """Spaces, and what is remembered of episodes."""
        w = self.num_envs
        limit = self.task.timing.max_episode_steps if max_episode_steps is None else max_episode_steps
        if limit < 0:
            raise ValueError(f"max_episode_steps is {limit}; it must be at least 1, or 0 for no limit")
        self.max_episode_steps = self._max_episode_steps = limit
        self._episodes = Episodes(np.zeros((w, 4)), np.zeros((w, 3)))
        self._generators: list[Optional[np.random.Generator]] = [None] * w
        self._elapsed, self._met = np.zeros(w, dtype=np.int64), np.zeros(w, dtype=np.int64)
        self._potential = np.zeros(w)
        self._over, self._begun = np.zeros(w, dtype=bool), np.zeros(w, dtype=bool)
        self._observations.prepare(self.worlds)
        self.worlds.observe_start()
        self.single_observation_space = self._observations.space(self.worlds.state, self._episodes)
        self.single_action_space = gym_api.Box(-1.0, 1.0, shape=(4,), dtype=np.float32)
        self.observation_space = gym_api.batch_space(self.single_observation_space, w)
        self.action_space = gym_api.batch_space(self.single_action_space, w)

    def reset(self, *, seed: Seeds = None, options: Optional[Mapping[str, Any]] = None) -> tuple[Any, dict[str, Any]]:
        """Begins episodes. seed: one number, to which the number of the world is added, or one a world; None: random numbers
        go on. options: reset_mask [W] bool, the worlds to reset; default all. Returns observations and info."""
        mask = self._mask(options)
        seeds = self._seeds(seed)
        for world in np.flatnonzero(mask):
            if seeds[world] is not None or self._generators[world] is None:
                self._generators[world], number = gym_api.generator(seeds[world])
                if world == 0:
                    self._np_random, self._np_random_seed = self._generators[world], number
        self._begin(np.flatnonzero(mask))
        score = self.task.score(self.worlds.state, self._episodes)
        observation = self._observation()
        if self.recording is not None:
            self.recording.begin(np.flatnonzero(mask), self.worlds.session, observation, seeds)
        return observation, self._info(score, {}, mask)

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Acts. actions [W,4] in [-1, 1]: shares of the largest speeds at which the gripper closes and moves in x, y and z;
        those beyond are cut off. Returns observations, rewards [W], terminations [W], truncations [W], info."""
        actions = self._checked(actions)
        everyone = np.ones(self.num_envs, dtype=bool)
        resetting = self._over.copy()
        failures = self._act(actions, ~resetting, np.flatnonzero(resetting))
        score = self.task.score(self.worlds.state, self._episodes)
        acted = ~resetting
        for world in failures:
            acted[world] = False
        self._elapsed[~resetting] += 1
        self._met = np.where(acted & score.met, self._met + 1, np.where(acted, 0, self._met))
        terminated = acted & (self._met >= self.task.timing.hold_steps)
        rewards = np.where(acted, score.potential - self._potential + terminated - self.action_cost * (actions**2).mean(axis=1), 0.0)
        self._potential[acted] = score.potential[acted]
        truncated = ~resetting & (self._elapsed >= self.max_episode_steps) if self.max_episode_steps else np.zeros_like(terminated)
        truncated[list(failures)] = True
        self._over = terminated | truncated
        observation, info = self._observation(), self._info(score, failures, everyone)
        if self.recording is not None:
            self._record(actions, observation, rewards, terminated, failures, np.flatnonzero(resetting))
        if self.autoreset_mode == gym_api.AutoresetMode.SAME_STEP and self._over.any():
            observation, info = self._reset_at_once(observation, info)
        return observation, rewards, terminated, truncated, info

    def render(self) -> Optional[tuple[np.ndarray, ...]]:
        """A picture of each world as it is: [h,w,3] uint8 for "rgb_array", [h,w] float32 m for "depth_array"."""
        if self.render_mode is None:
            return None
        return tuple(self._renderer.picture(world, self.render_mode) for world in range(self.num_envs))

    def close_extras(self, **_: Any) -> None:
        """Deletes the session, and stops the shared server when no environment uses it any more. Episodes that are not over are
        not recorded."""
        if self.recording is not None:
            self.recording.close()
        self.worlds.close()
        self._connection.close()

    @property
    def task_description(self) -> str:
        return self.task.description

    def call(self, name: str, *args: Any, **options: Any) -> tuple[Any, ...]:
        """The attribute `name`, or what that method returns, once a world: of vector environments made of single ones."""
        if name == "render":
            return self.render() or (None,) * self.num_envs
        value = getattr(self, name)
        return ((value(*args, **options) if callable(value) else value),) * self.num_envs

    def get_attr(self, name: str) -> tuple[Any, ...]:
        return self.call(name)

    def _mask(self, options: Optional[Mapping[str, Any]]) -> np.ndarray:
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return np.ones(self.num_envs, dtype=bool)
        if not (isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.shape == (self.num_envs,) and mask.any()):
            raise ValueError(f"options['reset_mask'] must be a bool array of shape ({self.num_envs},) with at least one True")
        if not (mask | self._begun).all():
            raise ValueError("the first reset must be of all worlds")
        return mask

    def _seeds(self, seed: Seeds) -> list[Optional[int]]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, (int, np.integer)):
            return [int(seed) + world for world in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ValueError(f"{len(seed)} seeds for {self.num_envs} worlds")
        return list(seed)

    def _checked(self, actions: Any) -> np.ndarray:
        actions = np.asarray(actions, dtype=np.float64)
        if actions.shape != (self.num_envs, 4):
            raise ValueError(f"actions have shape {actions.shape}, and must have ({self.num_envs}, 4)")
        if not self._begun.all():
            raise RuntimeError("call reset() before step()")
        if self.autoreset_mode == gym_api.AutoresetMode.DISABLED and self._over.any():
            raise RuntimeError(f"the episodes of worlds {np.flatnonzero(self._over).tolist()} are over; reset them with "
                               "reset(options={'reset_mask': ...})")
        return actions

    def _act(self, actions: np.ndarray, acting: np.ndarray, resetting: np.ndarray) -> dict[int, str]:
        """One request for the worlds that act and those whose next episode begins. Returns the failures of the former."""
        finite = np.isfinite(actions).all(axis=1)
        failures = {int(world): "the action is not finite" for world in np.flatnonzero(acting & ~finite)}
        moving = np.flatnonzero(acting & finite)
        timing, gripper, commands = self.task.timing, self.task.gripper, self._episodes.commands
        after = gripper.next(commands[moving], actions[moving], timing.action_s)
        rows = self.worlds.rows(moving, gripper.poses(commands[moving]), gripper.poses(after),
                                np.full(len(moving), timing.substeps))
        if self.recording is not None:
            self.recording.asked(moving, rows)
        errors = dict(self.worlds.send(np.concatenate([moving, resetting]),
                                       np.concatenate([rows, self._starting_rows(resetting)])))
        actions[~finite] = 0
        if self.recording is not None:
            self.recording.answered(self.worlds.answer)
        self._began(resetting, errors)
        stepped = ~np.isin(moving, list(errors))
        commands[moving[stepped]] = after[stepped]
        return {**failures, **{world: str(error) for world, error in errors.items() if world not in resetting}}

    def _record(self, actions: np.ndarray, observation: Any, rewards: np.ndarray, terminated: np.ndarray, failures: Mapping[int, str],
                begun: np.ndarray) -> None:
        """What a step did, into the episodes that are recorded."""
        assert self.recording is not None
        self.recording.step(self.worlds.session, actions, observation, rewards, self._over)
        self.recording.end(np.flatnonzero(self._over), terminated, list(failures))
        self.recording.begin(begun, self.worlds.session, observation, [None] * self.num_envs)

    def _begin(self, worlds: np.ndarray) -> None:
        """New episodes."""
        self._began(worlds, self.worlds.send(worlds, self._starting_rows(worlds)))

    def _starting_rows(self, worlds: np.ndarray) -> np.ndarray:
        """Puts worlds back to the scene's start, and draws where their grippers go from there."""
        self.worlds.reset(worlds)
        gripper, commands = self.task.gripper, self._episodes.commands
        for world in worlds:
            commands[world] = np.clip(self.task.draw(self._generators[world]), gripper.low, gripper.high)
        begin = np.repeat(gripper.start[None], len(worlds), axis=0)
        settle = np.full(len(worlds), self.task.timing.settle_substeps)
        return self.worlds.rows(worlds, begin, gripper.poses(commands[worlds]), settle, eased=True)

    def _began(self, worlds: np.ndarray, errors: Mapping[int, EipcError], attempts: int = _RESET_ATTEMPTS) -> None:
        """Episodes begin where worlds are; a world that could not get there is tried again. Raises its error when it never can."""
        failed = np.array([world for world in worlds if world in errors], dtype=np.int64)
        if len(failed):
            if attempts == 1:
                raise errors[int(failed[0])]
            self._began(failed, self.worlds.send(failed, self._starting_rows(failed)), attempts - 1)
        self._elapsed[worlds] = self._met[worlds] = 0
        self._over[worlds], self._begun[worlds] = False, True
        self._episodes.start[worlds] = self.worlds.state.position[worlds, self.task.held_at]
        self._potential[worlds] = self.task.score(self.worlds.state, self._episodes).potential[worlds]

    def _reset_at_once(self, observation: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """New episodes for the worlds whose one is over; what those ended with goes into the info."""
        over = self._over.copy()
        last = np.full(self.num_envs, None, dtype=object)
        for world in np.flatnonzero(over):
            last[world] = row(observation, world)
        ended = {key: value for key, value in info.items() if not key.startswith("_")}
        self._begin(np.flatnonzero(over))
        score = self.task.score(self.worlds.state, self._episodes)
        info = self._info(score, {}, np.ones(self.num_envs, dtype=bool))
        # `failed` of the worlds that go on is of this step in any case: a world that failed is over.
        info.update(final_obs=last, _final_obs=over, final_info=masked(ended, over), _final_info=over.copy())
        observation = self._observation()
        if self.recording is not None:
            self.recording.begin(np.flatnonzero(over), self.worlds.session, observation, [None] * self.num_envs)
        return observation, info

    def _observation(self) -> Any:
        return self._observations.read(self.worlds.state, self._episodes)

    def _info(self, score: Score, failures: Mapping[int, str], mask: np.ndarray) -> dict[str, Any]:
        failed = np.zeros(self.num_envs, dtype=bool)
        failed[list(failures)] = True
        values = {"is_success": self._met >= self.task.timing.hold_steps, "elapsed_steps": self._elapsed, "failed": failed,
                  "state_digest": self.worlds.state.digest, **score.figures}
        info = masked(values, mask)
        if failures:
            words = np.full(self.num_envs, None, dtype=object)
            words[list(failures)] = list(failures.values())
            info.update(failure=words, _failure=failed.copy())
        return info
