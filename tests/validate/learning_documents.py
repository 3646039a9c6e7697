"""The pages that are to be followed, followed in full as a new user would: what each block of commands took."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from eipc_cli import REPOSITORY, RunError
from page import Page
from page_blocks import WHEEL as WITH_THE_WHEEL, Followed, commands_of, first_words, prepare, run_page
from validation import Context, Record, at_most, equal, reported

WHEEL, TUTORIAL = "docs/howto/wheel.md", "docs/tutorial/learn_a_grasp.md"
# From a checkout. Those whose commands end by themselves and need nothing that a build lacks.
PAGES = tuple(f"docs/{page}.md" for page in (
    "tutorial/first_grasp", "howto/cameras", "howto/cloth", "howto/datasets", "howto/deadlines", "howto/drives", "howto/environments",
    "howto/episodes", "howto/evaluation", "howto/finray", "howto/joints", "howto/remote_policies", "howto/resets", "howto/robots",
    "howto/touch", "howto/viewer", "howto/write_an_environment"))
# What a page needs that a build does not bring.
_NEEDS = {"docs/howto/datasets.md": ("h5py",), "docs/howto/remote_policies.md": ("websockets", "msgpack")}
PICTURES = {"start.png": ("learn_start.png", 360), "learned.png": ("learn_learned.png", 960)}
_LIMIT_S = 3600.0
MOST_TUTORIAL_MIN = 60.0


@dataclass(frozen=True)
class _Page:
    name: str
    followed: Followed

    @property
    def minutes(self) -> float:
        return sum(self.followed.seconds) / 60


def documents(context: Context, page: Page) -> list[Record]:
    """EIPC_LEARNING_PAGES: words that the names of pages contain, comma-separated, to follow a few."""
    wanted = os.environ.get("EIPC_LEARNING_PAGES", "").split(",")
    names = [name for name in PAGES if any(word in name for word in wanted) and _at_hand(name)]
    pages = [_follow(context, name) for name in names]
    installed = _from_the_wheel(context) if any(word in name for word in wanted for name in (WHEEL, TUTORIAL)) else []
    _describe(page, pages, installed)
    failed = [one.name for one in (*pages, *installed) if one.followed.status != 0]
    records = [reported("documents.pages", len(pages) + len(installed)), equal("documents.failed", ", ".join(failed), ""),
               reported("documents.minutes", sum(one.minutes for one in (*pages, *installed)), "min")]
    if installed:
        records.append(at_most("documents.from_the_wheel_to_a_learned_grasp", sum(one.minutes for one in installed), MOST_TUTORIAL_MIN, "min"))
    return records


def _at_hand(page: str) -> bool:
    if page.endswith("viewer.md"):
        return (REPOSITORY / "client/python/eipc/viz/viewer.html").exists()
    return all(importlib.util.find_spec(module) for module in _NEEDS.get(page, ()))


def _follow(context: Context, name: str) -> _Page:
    """A page in a folder like a checkout."""
    context.say(name)
    folder = context.scratch / "documents" / Path(name).stem
    prepare(REPOSITORY, context.server.resolve().parent, folder)
    path = f"{folder / 'build/release/bin'}:{os.environ['PATH']}"
    done = _Page(name, run_page(REPOSITORY, name, folder, timeout_s=_LIMIT_S, variables={"PATH": path}))
    if done.followed.status != 0:
        context.say(f"{name} failed: {done.followed.errors[-2000:]}")
    return done


def _from_the_wheel(context: Context) -> list[_Page]:
    """The wheel made and installed, and the tutorial followed with nothing else."""
    folder = context.scratch / "documents" / "wheel"
    prepare(REPOSITORY, context.server.resolve().parent, folder)
    context.say("makes the wheel")
    made = subprocess.run([sys.executable, REPOSITORY / "scripts/build_wheel.py", "--build", context.server.resolve().parents[1], "--out",
                           folder / "build/wheel"], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise RunError(f"the wheel could not be made: {made.stderr[-500:]}")
    variables = {"PYTHONPATH": "", "EIPC_SERVER": "", "EIPC_CLI": ""}
    pages = []
    for name in (WHEEL, TUTORIAL):
        context.say(f"{name}, with the wheel")
        pages.append(_Page(name, run_page(REPOSITORY, name, folder, (), _LIMIT_S, variables, WITH_THE_WHEEL)))
        if pages[-1].followed.status != 0:
            context.say(f"{name} failed: {pages[-1].followed.errors[-2000:]}")
            return pages
    for made_picture, (name, width) in PICTURES.items():
        subprocess.run([sys.executable, REPOSITORY / "scripts/shrink_picture.py", folder / "learning" / made_picture,
                        context.figures.parent / "pictures" / name, str(width)], check=True)
    return pages


def _describe(page: Page, pages: list[_Page], installed: list[_Page]) -> None:
    if pages:
        page.section("The documentation, followed")
        page.text("""Every block of each page, in order and in full, in a folder that holds what `./dev build` made. The times are
            wall-clock times of the blocks of commands.""")
        page.table(["page", "commands", "time, s"], [[one.name, len(one.followed.seconds), sum(one.followed.seconds)] for one in pages])
    if not installed:
        return
    page.section("From the wheel to a learned grasp")
    page.text(f"""The wheel is installed as `{WHEEL}` says, and `{TUTORIAL}` followed with it, without the checkout's package, programs and
        variables.""")
    page.table(["block", "time, s"], [[first_words(text), seconds] for one in installed
                                      for text, seconds in zip(commands_of(REPOSITORY, one.name, WITH_THE_WHEEL), one.followed.seconds)])
