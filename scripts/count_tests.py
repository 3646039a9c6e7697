"""Adds up JUnit result files and prints `N passed, N failed` on a line of its own.

Usage: count_tests.py FILE.xml...
A file that is missing or unreadable counts as one failed test. Exit status: 0 when at least one test ran and none failed.
"""

import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    """One of passed, failed, skipped. What CTest could not start (no binary, broken fixture) it marks `notrun`: that is failed."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    skipped = case.find("skipped")
    if case.get("status") == "notrun":
        asked_for = skipped is not None and skipped.get("message", "").startswith("SKIP_")
        return "skipped" if asked_for else "failed"
    return "skipped" if skipped is not None or case.get("status") == "disabled" else "passed"


def outcomes(path):
    try:
        return [outcome(case) for case in ElementTree.parse(path).iter("testcase")]
    except (OSError, ElementTree.ParseError) as error:
        print(f"{path}: {error}")
        return ["failed"]


def main(paths):
    found = [result for path in paths for result in outcomes(path)]
    if "skipped" in found:
        print(f"({found.count('skipped')} skipped)")
    print(f"{found.count('passed')} passed, {found.count('failed')} failed")
    return 0 if "passed" in found and "failed" not in found else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
