"""docs/validation/service.md: the latest figures of every part of the studies of the service.

Parts are measured one at a time or all together. The figures of each part's last run are kept beside the page (service.json), which is
written from them: nothing in it is typed in, and a part that is not run keeps its rows.
"""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any, Sequence

from page import Page
from validation import Record

FILE = "service.json"


def _machine() -> str:
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = {line.split(":", 1)[1].strip() for line in file if line.startswith("model name")}
    return f"{os.cpu_count()} cores, {', '.join(sorted(models)) or platform.machine()}"


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

    def keep(self, part: str, title: str, command: str, records: Sequence[Record]) -> None:
        """Replaces what is known of a part. command: prints these records again."""
        self._parts[part] = {"title": title, "command": command, "machine": _machine(), "load": os.getloadavg()[1],
                             "records": [record.to_json() for record in records]}

    def write(self, order: Sequence[str] = ()) -> None:
        """Parts in this order (default: in the one that the page has), then all others; one that was never run is named."""
        order = order or self._order
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / FILE).write_text(json.dumps({"order": list(order), "parts": self._parts}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        page = Page("The service", "./dev validate service` and `./dev validate sanitizers")
        page.text("""`EIPC_SERVICE_SCALE=0.01` does little of everything, `EIPC_SERVICE_PARTS=overload` some parts only,
                  `EIPC_SERVICE_FRONTS=direct` leaves the proxy out, and `EIPC_SERVICE_SOAK_S=3600` makes the soak an hour long. Each
                  section is from the latest run of its part; its load is the number of processes that wanted a core in the last five
                  minutes. Ratios compare figures that were measured in turns in the same run.""")
        for part in [*order, *sorted(self._parts.keys() - set(order))]:
            self._section(page, part)
        page.write(self._folder / "service.md")

    def _section(self, page: Page, part: str) -> None:
        seen = self._parts.get(part)
        if seen is None:
            page.section(part)
            page.text("Not run.")
            return
        page.section(seen["title"])
        page.text(f"`{seen['command']}` on {seen['machine']}, load {seen['load']:.1f}.")
        page.table(["record", "target", "measured", "met"], [self._row(record) for record in seen["records"]])

    @staticmethod
    def _row(record: dict[str, Any]) -> list[Any]:
        measured = record["value"]
        if isinstance(measured, float):
            measured = f"{measured:.4g}"
        met = "" if record["target"] == "reported" else "yes" if record["pass"] else "**no**"
        return [record["name"], record["target"], f"{measured} {record['unit']}".strip(), met]
