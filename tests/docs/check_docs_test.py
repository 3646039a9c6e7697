"""Plants pages in a temporary tree and expects check_docs to judge each rightly."""

import pathlib
import tempfile
import unittest

import check_docs

# (file, its text, fragment of the expected problem, or None where nothing is wrong)
CASES = [
    ("docs/a.md", "See [the other page](b.md).", None),
    ("docs/a.md", "See [a page](c.md).", "links to c.md"),
    ("docs/a.md", "See [a heading](b.md#what-it-is).", None),
    ("docs/a.md", "See [a heading](b.md#what-it-was).", "no such heading"),
    ("docs/a.md", "See [above](#here).\n\n## Here", None),
    ("docs/a.md", "![A picture](missing.png)", "links to missing.png"),
    ("docs/a.md", "See [the web](https://example.com/c.md).", None),
    ("docs/a.md", "The barrier is in `sim/energy/barrier.h`.", None),
    ("docs/a.md", "The barrier is in `sim/energy/barriers.h`.", "names sim/energy/barriers.h"),
    ("docs/a.md", "The barrier is in `sim/energy/barrier.{h,cc}`.", "names sim/energy/barrier.cc"),
    ("docs/a.md", "All of `sim/energy/*.h`.", None),
    ("docs/a.md", "All of `sim/energy/*.proto`.", "names sim/energy/*.proto"),
    ("docs/a.md", "Write `sim/energy/NAME.h`.", None),
    ("docs/a.md", "Write `sim/mesh/read_NAME.cc`.", None),
    ("docs/a.md", "```sh\ncat sim/energy/barriers.h\n```", None),
    ("docs/a.md", "```math\na \\tag{1}\n```\n\n```math\nb \\tag{2}\n```", None),
    ("docs/a.md", "```math\na \\tag{1}\n```\n\n```math\nb \\tag{3}\n```", "numbers its equations"),
    ("CHANGELOG.md", "The old `sim/energy/barriers.h` is gone.", None),
    ("sim/energy/barrier.cc", "// docs/b.md explains this.", None),
    ("sim/energy/barrier.cc", "// docs/c.md explains this.", "names docs/c.md"),
    ("sim/energy/barrier.cc", "// The potential (theory.md, eq. 2).", None),
    ("sim/energy/barrier.cc", "// The potential (theory.md,\n// eq. 3).", "cites equation 3"),
    ("sim/energy/barrier.cc", "// The potential (theory.md, section 2).", None),
    ("sim/energy/barrier.cc", "// The potential (docs/concepts/theory.md,\n// section 3).", "cites section 3"),
    ("docs/a.md", "`BarrierTerm::Value` is the energy.", None),
    ("docs/a.md", "```\nBarrierTerm::Values\n```", "names BarrierTerm::Values"),
    ("docs/a.md", "It throws `std::bad_alloc`.", None),
    ("build/a.md", "See [a page](c.md).", None),
    ("docs/howto/new.md", "# New", "does not list docs/howto/new.md"),
    ("docs/decisions/0002-new.md", "# New", "does not list docs/decisions/0002-new.md"),
    ("tests/validate/study_new.py", 'NAME = "new"', "has no row for the study new"),
    ("docs/concepts/validation.md", "# V\n\n## Studies\n\n| `old`, `older` | |\n| `gone` | |\n\n## Other\n\n| `x` | |\n", "has a row for gone"),
    ("docs/results/old.md", "# Old\n\nFigures of `./dev bench`.\n", "does not say in line 3"),
    ("docs/results/old.md", "# Old\n\nFrom memory.\n\nWritten by `./dev bench` from its own runs; nothing here is typed in.\n", "does not say in line 3"),
    ("docs/results/old.md", "# Old\n\nWritten by `./dev bench --page X` from its own runs; nothing here is typed in. More.\n", None),
    ("docs/results/old.md", "# Old\n\nWritten by `SCALE=0.5 ./dev bench` from its own runs; nothing here is typed in. More.\n", None),
]

WRITTEN = "# Old\n\nWritten by `./dev validate old` from its own runs; nothing here is typed in.\n"


class CheckDocs(unittest.TestCase):
    def test_each_case_is_judged_rightly(self):
        for name, text, expected in CASES:
            with self.subTest(name=name, text=text), tempfile.TemporaryDirectory() as folder:
                root = pathlib.Path(folder)
                for path, content in [("docs/b.md", "# B\n\n## What it is"), ("sim/energy/barrier.h", "class BarrierTerm { double Value(); };"),
                                      ("docs/concepts/theory.md", "## 2. Energy\n\n\\tag{1} \\tag{2}"),
                                      ("docs/README.md", "[1](b.md) [2](concepts/theory.md) [3](a.md) [4](concepts/validation.md) "
                                       "[5](results/old.md#old) [6](decisions/README.md)"),
                                      ("docs/a.md", ""), ("docs/decisions/README.md", "[1](0001-old.md)"), ("docs/decisions/0001-old.md", "# Old"),
                                      ("docs/concepts/validation.md", "# V\n\n## Studies\n\n| `old`, `older` | |\n"),
                                      ("docs/results/old.md", WRITTEN),
                                      ("tests/validate/study_old.py", 'NAME = "old"'), ("tests/validate/study_older.py", 'NAME = "older"'), (name, text)]:
                    (root / path).parent.mkdir(parents=True, exist_ok=True)
                    (root / path).write_text(content, encoding="utf-8")
                found = check_docs.problems(root)
                if expected is None:
                    self.assertEqual(found, [])
                else:
                    self.assertEqual(len(found), 1, found)
                    self.assertIn(expected, found[0])

    def test_a_page_of_results_may_be_listed_by_another(self):
        with tempfile.TemporaryDirectory() as folder:
            docs = pathlib.Path(folder, "docs")
            (docs / "results").mkdir(parents=True)
            (docs / "README.md").write_text("[summary](results/old.md)", encoding="utf-8")
            (docs / "results/part.md").write_text(WRITTEN, encoding="utf-8")
            (docs / "results/old.md").write_text(WRITTEN, encoding="utf-8")
            self.assertEqual(check_docs.index_problems(pathlib.Path(folder)), ["docs/README.md: does not list docs/results/part.md"])
            (docs / "results/old.md").write_text(WRITTEN + "[part](part.md)", encoding="utf-8")
            self.assertEqual(check_docs.index_problems(pathlib.Path(folder)), [])


if __name__ == "__main__":
    unittest.main()
