#!/usr/bin/python3
"""Runs clang-tidy (.clang-tidy) on the C++ sources that changed since the last tag. `./dev lint` calls it on a configured build.

Usage: lint.py BUILD_FOLDER [--all | FILE...]

Without a tag (or in a clone without history) the last commits count; where even these are not at hand, all sources. A changed header
is checked through the source of its name. Of more than MOST_FILES the ones that changed last are checked, so that a check of a
fresh clone takes minutes; --all checks every source. Exit status: 0 without findings, 1 with, 2 when nothing could be checked.
"""

import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = ("sim/", "server/", "client/", "tools/", "models/", "tests/")
MOST_FILES = 30
COMMITS_WITHOUT_TAG = 20
# The commands of the build are GCC's; its warnings are not what is checked here.
EXTRA = ["--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-error"]


def git(*arguments):
    """Lines of a git command; none when it fails."""
    result = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    return result.stdout.splitlines() if result.returncode == 0 else []


def base_commit():
    """(commit to compare with, its name in words); (None, ...) when the clone has no such commit."""
    for start in ("HEAD^", "HEAD"):
        tag = git("describe", "--tags", "--abbrev=0", start)
        if tag:
            return tag[0], f"since {tag[0]}"
    commit = git("rev-parse", "--verify", "--quiet", f"HEAD~{COMMITS_WITHOUT_TAG}")
    return (commit[0], f"in the last {COMMITS_WITHOUT_TAG} commits (there is no tag)") if commit else (None, "")


def changed_paths(base):
    """Paths changed since `base`, last changed first."""
    paths = git("diff", "--name-only", "HEAD") + git("ls-files", "--others", "--exclude-standard")
    paths += git("log", "--format=", "--name-only", f"{base}..HEAD")
    return list(dict.fromkeys(paths))


def commands(build):
    """Compilation command by source. A folder whose sources are compiled together has one for each of them all the same."""
    known, together = {}, {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
        if file.startswith(str(build)):
            if "/Unity/" in file:
                folder = os.path.relpath(file, build).split("/CMakeFiles/")[0]
                together[folder] = (entry, file)
        elif file.startswith(str(ROOT)):
            known.setdefault(os.path.relpath(file, ROOT), entry)
    for folder, (entry, unity) in together.items():
        for source in (ROOT / folder).glob("*.cc"):
            path = source.relative_to(ROOT).as_posix()
            known.setdefault(path, {**entry, "command": entry["command"].replace(unity, str(source)), "file": str(source)})
    return known


def without_precompiled(entry):
    """The entry without GCC's precompiled header, which clang-tidy cannot read: a source includes all that it needs."""
    words = [word for word in shlex.split(entry["command"]) if word != "-fpch-deps"]
    start = next((i for i, word in enumerate(words) if word == "-include" and words[i + 1].endswith("cmake_pch.hxx")), None)
    return {**entry, "command": shlex.join(words if start is None else words[:start] + words[start + 2:])}


def sources_of(paths, known):
    """The sources among `paths`, and those of their headers, in order, each once."""
    sources = [path[:-2] + ".cc" if path.endswith(".h") else path for path in paths if path.startswith(FOLDERS)]
    return [path for path in dict.fromkeys(sources) if path in known]


def select(arguments, known):
    """(sources to check, what they are in words)."""
    if arguments == ["--all"]:
        return sorted(known), "all sources"
    if arguments:
        return sources_of(arguments, known), "the sources named"
    base, words = base_commit()
    if base is not None:
        sources = sources_of(changed_paths(base), known)
        words = f"sources changed {words}"
        if len(sources) > MOST_FILES:
            words = f"of {len(sources)} {words} the {MOST_FILES} changed last"
        return sources[:MOST_FILES], words
    # No history: the same number from all folders alike.
    sources = sorted(known)
    return sources[::-(-len(sources) // MOST_FILES)], f"every {-(-len(sources) // MOST_FILES)}th source (the clone has no history)"


def check(source, database):
    """Whether clang-tidy finds nothing in a source, and what it printed."""
    result = subprocess.run(["clang-tidy", "-p", str(database), "--quiet", *EXTRA, str(ROOT / source)], capture_output=True, text=True,
                            cwd=ROOT, check=False)
    return result.returncode == 0, result.stdout


def main(arguments):
    build = pathlib.Path(arguments[0]).resolve()
    known = commands(build)
    sources, words = select(arguments[1:], known)
    print(f"clang-tidy: {len(sources)} files: {words}", flush=True)
    if not known or (arguments[1:] and not sources):
        print("lint.py: no source to check has a compilation command in this build", file=sys.stderr)
        return 2
    found = 0
    with tempfile.TemporaryDirectory(prefix="eipc-lint-") as database:
        (pathlib.Path(database) / "compile_commands.json").write_text(
            json.dumps([{**without_precompiled(known[s]), "file": str(ROOT / s)} for s in sources]))
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count() or 1)) as pool:
            for source, (clean, text) in zip(sources, pool.map(lambda s: check(s, database), sources)):
                if not clean:
                    found += 1
                    print(f"{source}:\n{text}", flush=True)
    print(f"clang-tidy: {found} of {len(sources)} files with findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
