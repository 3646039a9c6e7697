"""The report of an evaluation, and the comparison of two on the same episodes: report.json, report.csv, report.html."""

from __future__ import annotations

import csv
import html
import io
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable, Optional, Sequence

from ..durable import write_durably
from .errors import EvaluationError
from .plots import picture
from .results import ERROR, SUCCESS, Result, Results
from .statistics import mcnemar, mean_interval, wilson

_COLUMNS = ("index", "scene", "seed", "outcome", "reason", "total_reward", "steps", "digest", "scene_name", "build", "server", "seconds",
            "moves")


@dataclass(frozen=True)
class Gathered:
    """results: those that count, by index. problems: what does not count and why, in words."""

    results: dict[int, Result]
    problems: list[str]


def gather(results: Results) -> Gathered:
    """Reads every result; none that is damaged, missing or of another build counts, and each is named."""
    found: dict[int, Result] = {}
    problems = []
    for case in results.plan.cases():
        try:
            found[case.index] = results.get(case.index)
        except EvaluationError as error:
            problems.append(str(error))
    problems += _other_scenes(found)
    problems += [f"{result.scene}, seed {result.seed}: {result.reason}" for result in found.values() if result.outcome == ERROR]
    return Gathered(found, problems)


def _other_scenes(found: dict[int, Result]) -> list[str]:
    """Takes out the results of a scene whose contents are not those of its first result."""
    first: dict[str, str] = {}
    problems = []
    for index, result in list(found.items()):
        if result.scene_name and result.scene_name != first.setdefault(result.scene, result.scene_name):
            problems.append(f"{result.scene}, seed {result.seed}: run in {result.scene_name}, the first in {first[result.scene]}: another scene")
            del found[index]
    return problems


def summary(results: Results, gathered: Optional[Gathered] = None) -> dict[str, Any]:
    """The report as JSON. Rates are of the episodes without an error; those with one are counted beside them."""
    gathered = gathered or gather(results)
    plan = results.plan
    rows = [_scene_summary(scene, [r for r in gathered.results.values() if r.scene == scene]) for scene in plan.scenes]
    return {"policy": plan.policy, "build": results.build, "episodes": plan.count, "finished": len(gathered.results),
            "complete": len(gathered.results) == plan.count, "first_seed": plan.first_seed,
            "all": _scene_summary("all", list(gathered.results.values())), "scenes": rows, "problems": gathered.problems,
            "scene_hashes": dict(plan.scene_hashes), "randomize": plan.randomize, "goals": _goals(gathered.results.values()),
            "servers": _servers(gathered.results.values()), "moves": sum(r.moves for r in gathered.results.values()),
            "run_again": sorted(path.name for path in results.folder.glob("episodes/*.damaged*"))}


def _scene_summary(scene: str, results: Sequence[Result]) -> dict[str, Any]:
    judged = [result for result in results if result.outcome != ERROR]
    successes = sum(result.outcome == SUCCESS for result in judged)
    low, high = wilson(successes, len(judged))
    rewards = [result.total_reward for result in judged if result.total_reward is not None]
    reward = mean_interval(rewards)
    return {"scene": scene, "episodes": len(judged), "errors": len(results) - len(judged), "successes": successes,
            "rate": successes / len(judged) if judged else None, "rate_95": [low, high],
            "mean_reward": _number(reward[0]), "mean_reward_95": [_number(reward[1]), _number(reward[2])],
            "mean_steps": _number(mean_interval([result.steps for result in judged])[0])}


def _goals(results: Iterable[Result]) -> list[dict[str, Any]]:
    """How often each goal that a scene file declares was reached."""
    counts: dict[tuple[str, str], list[int]] = {}
    for result in results:
        if result.outcome != ERROR:
            for name, figure in result.figures.get("goals", {}).items():
                count = counts.setdefault((result.scene, name), [0, 0])
                count[0] += bool(figure["reached"])
                count[1] += 1
    return [{"scene": scene, "goal": name, "reached": reached, "episodes": of} for (scene, name), (reached, of) in counts.items()]


def _servers(results: Iterable[Result]) -> list[dict[str, Any]]:
    """What each server of --server did. An episode that moved is counted where it ended."""
    found: dict[str, list[Result]] = {}
    for result in results:
        if result.server:
            found.setdefault(result.server, []).append(result)
    rows = []
    for address, mine in sorted(found.items()):
        seconds, actions = sum(r.seconds for r in mine), sum(r.steps for r in mine)
        rows.append({"server": address, "episodes": len(mine), "actions": actions, "seconds": round(seconds, 3),
                     "actions_per_second": actions / seconds if seconds > 0 else None, "moved_here": sum(r.moves > 0 for r in mine)})
    return rows


def compare(first: Results, second: Results) -> dict[str, Any]:
    """Two policies, episode by episode with the same scene and seed. Raises EvaluationError where there are no such pairs."""
    if first.build and second.build and first.build != second.build:
        raise EvaluationError(f"the evaluations are of builds {first.build} and {second.build}; run both with the same server")
    a, b = gather(first), gather(second)
    of_second = {(result.scene, result.seed): result for result in b.results.values() if result.outcome != ERROR}
    pairs = [(result, of_second[result.scene, result.seed]) for result in a.results.values()
             if result.outcome != ERROR and (result.scene, result.seed) in of_second]
    if not pairs:
        raise EvaluationError("the evaluations have no episode of the same scene and seed that both finished")
    only_first = sum(x.outcome == SUCCESS and y.outcome != SUCCESS for x, y in pairs)
    only_second = sum(y.outcome == SUCCESS and x.outcome != SUCCESS for x, y in pairs)
    rewards = [y.total_reward - x.total_reward for x, y in pairs if x.total_reward is not None and y.total_reward is not None]
    reward = mean_interval(rewards)
    return {"policies": [first.plan.policy, second.plan.policy], "pairs": len(pairs), "only_first": only_first,
            "only_second": only_second, "both": sum(x.outcome == y.outcome == SUCCESS for x, y in pairs),
            "rate_difference": (only_second - only_first) / len(pairs), "mcnemar_p": mcnemar(only_first, only_second),
            "reward_difference": _number(reward[0]), "reward_difference_95": [_number(reward[1]), _number(reward[2])],
            "problems": [f"{first.plan.policy}: {p}" for p in a.problems] + [f"{second.plan.policy}: {p}" for p in b.problems]}


def write_report(results: Results) -> dict[str, Any]:
    """report.json, report.csv and report.html in the folder of the results. Returns the first."""
    gathered = gather(results)
    report = summary(results, gathered)
    _write(results.folder / "report.json", json.dumps(report, indent=1) + "\n")
    _write(results.folder / "report.csv", table(gathered))
    _write(results.folder / "report.html", page(report, gathered))
    return report


def table(gathered: Gathered) -> str:
    """A line each episode."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for result in gathered.results.values():
        writer.writerow([getattr(result, name) for name in _COLUMNS])
    return out.getvalue()


def words(report: dict[str, Any]) -> str:
    """The report for a terminal: a line a scene, problems below."""
    lines = [f"{report['policy']}: {report['finished']} of {report['episodes']} episodes"]
    for row in [*report["scenes"], *([report["all"]] if len(report["scenes"]) > 1 else [])]:
        rate = "no episode" if row["rate"] is None else (f"{100 * row['rate']:.1f} % succeed ({100 * row['rate_95'][0]:.1f} to "
                                                        f"{100 * row['rate_95'][1]:.1f}), {row['successes']} of {row['episodes']}")
        errors = f", {row['errors']} errors" if row["errors"] else ""
        lines.append(f"  {row['scene']}: {rate}{errors}")
    lines += [f"  ! {problem}" for problem in report["problems"][:20]]
    if len(report["problems"]) > 20:
        lines.append(f"  ! and {len(report['problems']) - 20} more in report.json")
    return "\n".join(lines)


def page(report: dict[str, Any], gathered: Gathered) -> str:
    """One file that needs nothing else."""
    e = html.escape
    rows = "".join(f"<tr><td>{e(row['scene'])}</td><td>{row['episodes']}</td><td>{row['successes']}</td><td>{_percent(row['rate'])}</td>"
                   f"<td>{_percent(row['rate_95'][0])} – {_percent(row['rate_95'][1])}</td><td>{row['errors']}</td>"
                   f"<td>{_short(row['mean_reward'])}</td><td>{_short(row['mean_steps'])}</td></tr>"
                   for row in [*report["scenes"], report["all"]])
    goals = "".join(f"<tr><td>{e(row['scene'])}</td><td>{e(row['goal'])}</td><td>{row['reached']}</td><td>{row['episodes']}</td></tr>"
                    for row in report["goals"])
    servers = "".join(f"<tr><td>{e(row['server'])}</td><td>{row['episodes']}</td><td>{row['actions']}</td>"
                      f"<td>{_short(row['actions_per_second'])}</td><td>{row['moved_here']}</td></tr>" for row in report["servers"])
    problems = "".join(f"<li>{e(problem)}</li>" for problem in report["problems"])
    figure = picture(report, gathered.results.values())
    shown = f'<img alt="Success rates with intervals, and rewards" src="data:image/png;base64,{figure}">' if figure else ""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Evaluation of {e(report['policy'])}</title>
<style>body{{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color-scheme:light dark}}
table{{border-collapse:collapse}}td,th{{padding:.3rem .8rem;border-bottom:1px solid #8886;text-align:right}}td:first-child,th:first-child{{text-align:left}}
img{{max-width:100%;background:#fff;margin:1rem 0}}</style></head>
<body><h1>Evaluation of {e(report['policy'])}</h1>
<p>{report['finished']} of {report['episodes']} episodes, seeds from {report['first_seed']}, server of build {e(report['build'])}.
Rates are of the episodes without errors, with Wilson intervals of 95 %.</p>
<table><thead><tr><th>scene</th><th>episodes</th><th>successes</th><th>rate</th><th>95 %</th><th>errors</th><th>mean reward</th><th>mean steps</th></tr></thead>
<tbody>{rows}</tbody></table>
{shown}
{f"<h2>Goals</h2><table><thead><tr><th>scene</th><th>goal</th><th>reached</th><th>episodes</th></tr></thead><tbody>{goals}</tbody></table>" if goals else ""}
{f"<h2>Servers</h2><table><thead><tr><th>server</th><th>episodes</th><th>actions</th><th>actions/s</th><th>moved here</th></tr></thead><tbody>{servers}</tbody></table>" if servers else ""}
<h2>Problems</h2>{f"<ul>{problems}</ul>" if problems else "<p>None.</p>"}
{f"<p>Damaged results that were set aside, and their episodes run again: {e(', '.join(report['run_again']))}.</p>" if report["run_again"] else ""}
</body></html>
"""


def _percent(rate: Optional[float]) -> str:
    return "–" if rate is None else f"{100 * rate:.1f} %"


def _short(value: Optional[float]) -> str:
    return "–" if value is None else f"{value:.4g}"


def _number(value: float) -> Optional[float]:
    return None if math.isnan(value) else value


def _write(path: Path, text: str) -> None:
    write_durably(path, lambda file: file.write(text.encode()))
