"""What an evaluation consists of: a policy, scenes and seeds; one file that says so, and never changes."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Iterator, Mapping

from ..durable import write_durably
from .errors import EvaluationError
from .scene_files import digest, is_scene_file, keep, randomize_text, read_randomize, read_scene

PLAN = "plan.json"


@dataclass(frozen=True)
class Case:
    """One episode. scene: an environment (is_environment) or a scene file (is_scene_file). index: its place in the evaluation."""

    index: int
    scene: str
    seed: int

    def __str__(self) -> str:
        return f"episode {self.index} ({self.scene}, seed {self.seed})"


@dataclass(frozen=True)
class Plan:
    """policy: MODULE[:NAME]. scenes: environments and scene files, each with `episodes` episodes of the seeds first_seed,
    first_seed + 1, ...

    max_steps: of an episode; 0: what the environment or the scene's schedule says. episode_timeout_s: of wall-clock time. randomize: of
    scene files, the ranges of starts that are drawn with the seed (text form of eipc.v1.Randomize). scene_hashes: SHA-256 of each scene
    file with its meshes.
    """

    policy: str
    scenes: tuple[str, ...]
    episodes: int
    first_seed: int = 0
    max_steps: int = 0
    episode_timeout_s: float = 600.0
    randomize: str = ""
    scene_hashes: Mapping[str, str] = field(default_factory=dict)
    contents: Mapping[str, bytes] = field(default_factory=dict, compare=False, repr=False)  # of the scene files, until they are written

    @classmethod
    def make(cls, policy: str, scenes: list[str], episodes: int, **options: Any) -> "Plan":
        """Raises EvaluationError for what cannot be evaluated."""
        if not scenes:
            raise EvaluationError("no scene is given: name environments, such as eipc/Grasp-v0, or scene files")
        if episodes < 1:
            raise EvaluationError(f"episodes is {episodes}; there must be at least one a scene")
        if len(set(scenes)) != len(scenes):
            raise EvaluationError("a scene is given twice")
        for scene in scenes:
            if not is_environment(scene) and not is_scene_file(scene):
                raise EvaluationError(f"the scene {scene} is neither an environment nor a scene file: name an id (eipc/Grasp-v0), "
                                      "MODULE:NAME of a function that makes one, or a file .textproto")
        contents = {scene: read_scene(scene) for scene in scenes if is_scene_file(scene)}
        options["randomize"] = randomize_text(read_randomize(options.get("randomize", "")))
        if options["randomize"] and len(contents) < len(scenes):
            raise EvaluationError("--randomize is for scene files: environments draw their starts themselves")
        plan = cls(policy, tuple(scenes), episodes, **options, contents=contents,
                   scene_hashes={scene: digest(data) for scene, data in contents.items()})
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
                changed = [name for name in self._fields() if getattr(before, name) != getattr(self, name)]
                raise EvaluationError(f"{folder} holds another evaluation: {', '.join(changed)} differ; give another --out")
            return
        keep(folder, self.contents)
        text = json.dumps(self._fields(), indent=1) + "\n"
        write_durably(path, lambda file: file.write(text.encode()))

    def _fields(self) -> dict[str, Any]:
        fields = asdict(self)
        del fields["contents"]
        return fields

    @classmethod
    def read(cls, folder: Path) -> "Plan":
        """Raises EvaluationError."""
        try:
            fields = json.loads((folder / PLAN).read_text())
            known: dict[str, Any] = {**fields, "scenes": tuple(fields["scenes"])}
            return cls(**known)
        except OSError as error:
            raise EvaluationError(f"{folder} holds no evaluation: {PLAN} cannot be read ({error.strerror})") from None
        except (ValueError, TypeError, KeyError):
            raise EvaluationError(f"{folder / PLAN} is damaged; begin anew in another folder") from None


def is_environment(scene: str) -> bool:
    """Whether this names an environment: an id of eipc.envs, or MODULE:NAME."""
    module, _, name = scene.partition(":")
    words = [*module.split("."), name] if name else []
    return scene.startswith("eipc/") or (bool(words) and all(word.isidentifier() for word in words))
