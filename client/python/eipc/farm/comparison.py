"""The report of a comparison of two policies on the same episodes: comparison.json, comparison.csv, comparison.html."""

from __future__ import annotations

import csv
import html
import io
import json
from pathlib import Path
from typing import Any

from ..durable import write_durably
from .report import compare, gather
from .results import ERROR, SUCCESS, Results
from .statistics import wilson


def write_comparison(first: Results, second: Results, folder: Path) -> dict[str, Any]:
    """Into a folder, which is made. Returns what compare() found, with the rates of both and a row a scene. Raises EvaluationError."""
    found = compare(first, second)
    pairs = _pairs(first, second)
    found["rates"] = [_rate([pair[k] for pair in pairs]) for k in (3, 4)]
    found["scenes"] = [{"scene": scene, "pairs": len(mine), "first": sum(p[3] for p in mine), "second": sum(p[4] for p in mine),
                        "only_first": sum(p[3] and not p[4] for p in mine), "only_second": sum(p[4] and not p[3] for p in mine)}
                       for scene in first.plan.scenes if (mine := [p for p in pairs if p[0] == scene])]
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "comparison.json", json.dumps(found, indent=1) + "\n")
    _write(folder / "comparison.csv", _table(pairs))
    _write(folder / "comparison.html", page(found))
    return found


# Scene, seed, reward difference (None where there are none), success of the first, of the second.
_Pair = tuple[str, int, Any, bool, bool]


def _pairs(first: Results, second: Results) -> list[_Pair]:
    others = {(r.scene, r.seed): r for r in gather(second).results.values() if r.outcome != ERROR}
    rows: list[_Pair] = []
    for mine in gather(first).results.values():
        other = others.get((mine.scene, mine.seed))
        if mine.outcome == ERROR or other is None:
            continue
        difference = None if mine.total_reward is None or other.total_reward is None else other.total_reward - mine.total_reward
        rows.append((mine.scene, mine.seed, difference, mine.outcome == SUCCESS, other.outcome == SUCCESS))
    return rows


def _rate(successes: list[Any]) -> dict[str, Any]:
    count = sum(bool(success) for success in successes)
    return {"successes": count, "rate": count / len(successes), "rate_95": list(wilson(count, len(successes)))}


def _table(pairs: list[_Pair]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("scene", "seed", "reward_difference", "first_succeeds", "second_succeeds"))
    writer.writerows(pairs)
    return out.getvalue()


def page(found: dict[str, Any]) -> str:
    """One file that needs nothing else."""
    e = html.escape
    rates = "".join(f"<tr><td>{e(policy)}</td><td>{rate['successes']}</td><td>{100 * rate['rate']:.1f} %</td>"
                    f"<td>{100 * rate['rate_95'][0]:.1f} – {100 * rate['rate_95'][1]:.1f} %</td></tr>"
                    for policy, rate in zip(found["policies"], found["rates"]))
    scenes = "".join(f"<tr><td>{e(row['scene'])}</td>" + "".join(f"<td>{row[name]}</td>" for name in ("pairs", "first", "second", "only_first", "only_second"))
                     + "</tr>" for row in found["scenes"])
    bars = "".join(f'<rect x="0" y="{40 * k}" width="{400 * rate["rate"]:.1f}" height="22" fill="#4c78a8"/>'
                   f'<line x1="{400 * rate["rate_95"][0]:.1f}" x2="{400 * rate["rate_95"][1]:.1f}" y1="{40 * k + 11}" y2="{40 * k + 11}" stroke="currentColor" stroke-width="3"/>'
                   for k, rate in enumerate(found["rates"]))
    reward = "" if found["reward_difference"] is None else (
        f"<p>Mean difference of rewards, second less first: {found['reward_difference']:.4g} ({found['reward_difference_95'][0]:.4g} to "
        f"{found['reward_difference_95'][1]:.4g}, 95 %).</p>")
    problems = "".join(f"<li>{e(problem)}</li>" for problem in found["problems"])
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Comparison of two policies</title>
<style>body{{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color-scheme:light dark}}
table{{border-collapse:collapse;margin:1rem 0}}td,th{{padding:.3rem .8rem;border-bottom:1px solid #8886;text-align:right}}td:first-child,th:first-child{{text-align:left}}</style></head>
<body><h1>{e(found['policies'][0])} and {e(found['policies'][1])}</h1>
<p>{found['pairs']} episodes with the same scene and seed. Both succeed in {found['both']}, only the first in {found['only_first']}, only the second in {found['only_second']}:
the rates differ by {100 * found['rate_difference']:+.1f} points, p = {found['mcnemar_p']:.3g} (exact test of McNemar).</p>
<table><thead><tr><th>policy</th><th>successes</th><th>rate</th><th>Wilson interval, 95 %</th></tr></thead><tbody>{rates}</tbody></table>
<svg role="img" aria-label="Success rates with intervals of 95 %" viewBox="0 0 400 70" width="400">{bars}</svg>
<table><thead><tr><th>scene</th><th>pairs</th><th>first</th><th>second</th><th>only first</th><th>only second</th></tr></thead><tbody>{scenes}</tbody></table>
{reward}
<h2>Problems</h2>{f"<ul>{problems}</ul>" if problems else "<p>None.</p>"}
</body></html>
"""


def _write(path: Path, text: str) -> None:
    write_durably(path, lambda file: file.write(text.encode()))
