"""`eipc learn`: a policy for a grasping environment, from scratch or from recorded demonstrations."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..durable import write_durably
from ..envs import EipcVectorEnv, make_vec
from ..episode import load_episodes
from ..learn import CloningSettings, CrossEntropySettings, Generation, LinearPolicy, clone, cross_entropy, success_rate
from ..learn.cloning import demonstrations
from .env_options import add_env_option, env_options
from .servers import add_server_option, client_of

# The seeds of episodes that learning never sees.
_HELD_OUT = 1 << 32


def add_commands(commands: Any) -> None:
    learn = commands.add_parser(
        "learn", help="learn a policy for a grasping environment",
        description="Learns a policy that observes \"state\": from scratch by the cross-entropy method, or by cloning the episodes of a "
        "recorder. Writes the policy, its learning curve and its success rate on episodes that learning did not see.")
    learn.add_argument("env", nargs="?", default="eipc/Grasp-v0", metavar="ENV", help="id of a grasping environment (default eipc/Grasp-v0)")
    learn.add_argument("--out", type=Path, default=Path("learned"), metavar="FOLDER", help="default: learned")
    learn.add_argument("--from", dest="recorded", type=Path, metavar="FOLDER", help="clone the successful episodes of a recorder")
    learn.add_argument("--seed", type=int, default=0, help="of everything that is drawn")
    learn.add_argument("--worlds", type=int, default=64, help="that are stepped together; candidates of a generation (default 64)")
    learn.add_argument("--generations", type=int, default=CrossEntropySettings.generations, help="at most (default %(default)s)")
    learn.add_argument("--epochs", type=int, default=CloningSettings.epochs, help="of cloning (default %(default)s)")
    learn.add_argument("--max-steps", type=int, default=60, help="of an episode (default 60)")
    learn.add_argument("--episodes", type=int, default=100, help="of each evaluation (default 100)")
    add_env_option(learn)
    add_server_option(learn)
    learn.set_defaults(command=_learn)


def _learn(options: argparse.Namespace) -> int:
    options.out.mkdir(parents=True, exist_ok=True)
    with client_of(options) as client, make_vec(options.env, options.worlds, max_episode_steps=options.max_steps, server=client,
                                                **env_options(options.env_option)) as env:
        report = _clone(options, env) if options.recorded else _improve(options, env)
    text = json.dumps({"env": options.env, "seed": options.seed, "worlds": options.worlds, **report}, indent=1) + "\n"
    write_durably(options.out / "learning.json", lambda file: file.write(text.encode()))
    print(f"policy: {options.out / 'policy.npz'}, learning curve: {options.out / 'learning.json'}")
    return 0


def _improve(options: argparse.Namespace, env: EipcVectorEnv) -> dict[str, Any]:
    def report(generation: Generation) -> None:
        print(f"generation {generation.number}: mean return {generation.mean_return:.3f}, best {generation.best_return:.3f}, "
              f"{100 * generation.success:.0f} % succeed", flush=True)

    before = success_rate(env, LinearPolicy.of(np.zeros(LinearPolicy.PARAMETERS)), options.episodes, _HELD_OUT)
    print(f"before: {before}", flush=True)
    policy, curve = cross_entropy(env, options.seed, CrossEntropySettings(generations=options.generations), report)
    policy.save(options.out / "policy.npz")
    after = success_rate(env, policy, options.episodes, _HELD_OUT)
    print(f"after: {after}")
    return {"method": "cross-entropy", "before": asdict(before), "after": asdict(after), "curve": [asdict(one) for one in curve]}


def _clone(options: argparse.Namespace, env: EipcVectorEnv) -> dict[str, Any]:
    seen, done = demonstrations(load_episodes(options.recorded))
    policy, losses = clone(seen, done, options.seed, CloningSettings(epochs=options.epochs))
    policy.save(options.out / "policy.npz")
    print(f"cloned {len(seen)} steps: mean squared error of the actions {losses[0]:.4f} after one epoch, {losses[-1]:.4f} after {len(losses)}")
    after = success_rate(env, policy, options.episodes, _HELD_OUT)
    print(f"after: {after}")
    return {"method": "cloning", "samples": len(seen), "losses": losses, "after": asdict(after)}
