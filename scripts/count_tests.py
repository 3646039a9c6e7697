"""Adds up JUnit result files and prints `N passed, N failed` on a line of its own.

Usage: count_tests.py FILE.xml...
Exit status: 0 when at least one test ran and none failed.
"""

import sys
import xml.etree.ElementTree as ElementTree


def count(path):
    """Returns (passed, failed, skipped) of one JUnit file; a test that did not run (not built, not found) counts as failed."""
    passed = failed = skipped = 0
    for case in ElementTree.parse(path).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.get("status") in ("notrun", "disabled") or case.find("skipped") is not None:
            # CTest marks a test without its binary `notrun` too, with a message that says so.
            note = case.find("skipped")
            message = (note.get("message") or "") if note is not None else ""
            if "Unable to find executable" in message or "Could not" in message or "Failed" in message:
                failed += 1
            else:
                skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def main(paths):
    totals = [sum(values) for values in zip(*(count(path) for path in paths))] or [0, 0, 0]
    passed, failed, skipped = totals
    if skipped:
        print(f"({skipped} skipped)")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
