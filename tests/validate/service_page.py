"""docs/results/service.md: the latest figures of every part of the studies of the service.

Parts are measured one at a time or all together, each directly and through the proxy. The figures of each last run are kept beside the
page (service.json), which is written from them: nothing in it is typed in, and a part that is not run keeps its rows.
"""

from __future__ import annotations

import json
import os
import platform
import time
from pathlib import Path
from typing import Any, Sequence

from page import Page
from validation import Record

FILE = "service.json"
DIRECT, PROXY = "direct", "proxy"


def _machine() -> str:
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = {line.split(":", 1)[1].strip() for line in file if line.startswith("model name")}
    return f"{os.cpu_count()} cores, {', '.join(sorted(models)) or platform.machine()}"


def _span(values: Sequence[Any]) -> str:
    """The least and the greatest; one where they are the same."""
    return " to ".join(dict.fromkeys((str(min(values)), str(max(values)))))


class ServicePage:
    """The page in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            kept = json.loads((folder / FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            kept = {"order": [], "parts": {}}
        self._order: list[str] = kept["order"]
        self._parts: dict[str, Any] = kept["parts"]

    def keep(self, part: str, front: str, title: str, command: str, records: Sequence[Record]) -> None:
        """Replaces what is known of a part. front: the name of one of service_fronts.py; command: prints these records again."""
        known = self._parts.setdefault(part, {"fronts": {}})
        known["title"] = title
        known["fronts"][front] = {"command": command, "date": time.strftime("%Y-%m-%d", time.gmtime()), "machine": _machine(),
                                  "load": os.getloadavg()[1], "records": [record.to_json() for record in records]}

    def write(self, order: Sequence[str] = ()) -> None:
        """Parts in this order (default: in the one that the page has), then all others; one that was never run is named."""
        self._order = list(order) or self._order
        self._folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"order": self._order, "parts": self._parts}, indent=1, sort_keys=True)
        (self._folder / FILE).write_text(text + "\n", encoding="utf-8")
        page = Page("The service", "./dev validate service` and `./dev validate sanitizers")
        page.text(self._measured())
        page.text("""`EIPC_SERVICE_SCALE=0.01` does a hundredth of everything, `EIPC_SERVICE_PARTS=overload` one part only,
                  `EIPC_SERVICE_FRONTS=direct` leaves the proxy out, and `EIPC_SERVICE_SOAK_S=3600` makes the soak an hour long. Every
                  section names the command that prints it. A target that was missed is in bold. Ratios compare figures that were
                  measured in turns in the same run.""")
        for part in [*self._order, *sorted(self._parts.keys() - set(self._order))]:
            self._section(page, part)
        page.write(self._folder / "service.md")

    def _measured(self) -> str:
        runs = [run for part in self._parts.values() for run in part["fronts"].values()]
        if not runs:
            return "Nothing was measured."
        dates, machines = [run["date"] for run in runs], sorted({run["machine"] for run in runs})
        loads = [round(run["load"], 1) for run in runs]
        return f"Measured on {_span(dates)} on {'; '.join(machines)}; load average (5 minutes) at the end of a part: {_span(loads)}."

    def _section(self, page: Page, part: str) -> None:
        seen = self._parts.get(part)
        if seen is None:
            page.section(part)
            page.text("Not run.")
            return
        page.section(seen["title"])
        fronts = {name: seen["fronts"][name] for name in (DIRECT, PROXY) if name in seen["fronts"]}
        page.text(", ".join(dict.fromkeys(f"`{run['command']}`" for run in fronts.values())) + ".")
        rows = {front: {record["name"]: record for record in run["records"]} for front, run in fronts.items()}
        names = dict.fromkeys(name for records in rows.values() for name in records)
        table = []
        for name in names:
            found = [rows.get(front, {}).get(name) for front in (DIRECT, PROXY)]
            targets = dict.fromkeys(record["target"] for record in found if record)
            table.append([name, "; ".join(targets), *map(_cell, found)])
        page.table(["record", "target", "direct", "through the proxy"], table)


def _cell(record: dict[str, Any] | None) -> str | None:
    if record is None:
        return None
    value = record["value"]
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    text = f"{text} {record['unit']}".strip()
    return text if record["pass"] else f"**{text}**"
