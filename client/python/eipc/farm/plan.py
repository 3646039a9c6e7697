"""What an evaluation consists of: a policy, scenes and seeds; one file that says so, and never changes."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Iterator

from ..durable import write_durably
from .errors import EvaluationError

PLAN = "plan.json"


@dataclass(frozen=True)
class Case:
    """One episode. scene: an environment (is_environment). index: its place in the evaluation."""

    index: int
    scene: str
    seed: int

    def __str__(self) -> str:
        return f"episode {self.index} ({self.scene}, seed {self.seed})"


@dataclass(frozen=True)
class Plan:
    """policy: MODULE[:NAME]. scenes: environments, each with `episodes` episodes of the seeds first_seed, first_seed + 1, ...

    max_steps: of an episode; 0: what the environment says. episode_timeout_s: of wall-clock time.
    """

    policy: str
    scenes: tuple[str, ...]
    episodes: int
    first_seed: int = 0
    max_steps: int = 0
    episode_timeout_s: float = 600.0

    @classmethod
    def make(cls, policy: str, scenes: list[str], episodes: int, **options: Any) -> "Plan":
        """Raises EvaluationError for what cannot be evaluated."""
        if not scenes:
            raise EvaluationError("no scene is given: name environments, such as eipc/Grasp-v0")
        if episodes < 1:
            raise EvaluationError(f"episodes is {episodes}; there must be at least one a scene")
        if len(set(scenes)) != len(scenes):
            raise EvaluationError("a scene is given twice")
        for scene in scenes:
            if not is_environment(scene):
                raise EvaluationError(f"the scene {scene} is no environment: name an id (eipc/Grasp-v0) or MODULE:NAME of a function that "
                                      "makes one")
        plan = cls(policy, tuple(scenes), episodes, **options)
        if not plan.episode_timeout_s > 0:
            raise EvaluationError(f"the time limit of an episode is {plan.episode_timeout_s:g} s; it must be positive")
        if plan.max_steps < 0:
            raise EvaluationError(f"max_steps is {plan.max_steps}; it must be at least 0")
        return plan

    @property
    def count(self) -> int:
        return len(self.scenes) * self.episodes

    def cases(self) -> Iterator[Case]:
        """Seeds are the same for every scene, and for every policy: what paired comparisons need."""
        for s, scene in enumerate(self.scenes):
            for k in range(self.episodes):
                yield Case(s * self.episodes + k, scene, self.first_seed + k)

    def case(self, index: int) -> Case:
        scene, k = divmod(index, self.episodes)
        return Case(index, self.scenes[scene], self.first_seed + k)

    def write(self, folder: Path) -> None:
        """Into an empty folder, or one of the same plan. Raises EvaluationError."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / PLAN
        if path.exists():
            before = Plan.read(folder)
            if before != self:
                changed = [name for name in asdict(self) if getattr(before, name) != getattr(self, name)]
                raise EvaluationError(f"{folder} holds another evaluation: {', '.join(changed)} differ; give another --out")
            return
        text = json.dumps(asdict(self), indent=1) + "\n"
        write_durably(path, lambda file: file.write(text.encode()))

    @classmethod
    def read(cls, folder: Path) -> "Plan":
        """Raises EvaluationError."""
        try:
            fields = json.loads((folder / PLAN).read_text())
            return cls(**{**fields, "scenes": tuple(fields["scenes"])})
        except OSError as error:
            raise EvaluationError(f"{folder} holds no evaluation: {PLAN} cannot be read ({error.strerror})") from None
        except (ValueError, TypeError, KeyError):
            raise EvaluationError(f"{folder / PLAN} is damaged; begin anew in another folder") from None


def is_environment(scene: str) -> bool:
    """Whether this names an environment: an id of eipc.envs, or MODULE:NAME."""
    module, _, name = scene.partition(":")
    words = [*module.split("."), name] if name else []
    return scene.startswith("eipc/") or (bool(words) and all(word.isidentifier() for word in words))
