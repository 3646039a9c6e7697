"""How many source files a new part touches, tests and documents apart, and that docs/concepts/architecture.md lists just these."""

import pathlib
import re
import sys
import unittest

import planted_parts

SOURCE = pathlib.Path(__file__).resolve().parents[2]
MOST_FILES = 5


def documented_files():
    """By part, the files that the table of the architecture page lists for a new one."""
    page = (SOURCE / "docs/concepts/architecture.md").read_text()
    section = page[page.index("## What a new part touches"):]
    rows = re.findall(r"^\| ([A-Za-z ]+) \| (.*) \|$", section, re.MULTILINE)
    return {part: sorted(re.findall(r"`([^`]+)`", files)) for part, files in rows if part in planted_parts.PARTS}


def touched_files(part):
    """The files of an example; those that it adds by the name that the page gives them."""
    files = []
    for path, change in planted_parts.PARTS[part].items():
        name = re.sub(r"planted(_spring|_call)?\.", "NAME.", path) if isinstance(change, str) else path
        files.append(name)
    return sorted(files)


class PartsTest(unittest.TestCase):
    def test_a_new_part_touches_few_files(self):
        for part in planted_parts.PARTS:
            with self.subTest(part):
                print(f"{part}: {len(touched_files(part))} files")
                self.assertLessEqual(len(touched_files(part)), MOST_FILES, touched_files(part))

    def test_the_page_lists_them(self):
        documented = documented_files()
        for part in planted_parts.PARTS:
            with self.subTest(part):
                self.assertEqual(documented.get(part), touched_files(part))

    def test_the_examples_fit_the_sources(self):
        self.assertTrue(planted_parts.planted(SOURCE))

    def test_an_anchor_that_is_not_there_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "0 places match"):
            planted_parts.Insertion("gone", "x").apply("text", "file")
        with self.assertRaisesRegex(ValueError, "2 places match"):
            planted_parts.Insertion("a", "x").apply("a a", "file")


if __name__ == "__main__":
    sys.exit(unittest.main())
