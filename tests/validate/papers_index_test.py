#!/usr/bin/python3
"""The index of the papers' figures: what a record's source names, what a row says, and that a figure without a place is refused."""

from __future__ import annotations

import math
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
from paper_records import NO_EXPERIMENT, NOT_PUBLISHED, Claim, PaperRecord  # noqa: E402
from papers_absent import DRAWINGS, MISSING  # noqa: E402
from papers_index import FIGURES, NOT_RUN, Summary, figures_of  # noqa: E402

PAPER = "Larionov et al. 2023"


class FiguresOfTest(unittest.TestCase):
    def test_takes_sources_apart(self) -> None:
        for named, labels in (("Fig. 4", ["Fig. 4"]), ("Figs. 1, 5", ["Fig. 1", "Fig. 5"]), ("Fig. 7, Table I", ["Fig. 7", "Table I"]),
                              ("Fig. 9 to 11", ["Fig. 9", "Fig. 10", "Fig. 11"]), ("Fig. 8, Table II(d)", ["Fig. 8", "Table II(d)"])):
            self.assertEqual(figures_of(f"{PAPER}, {named}"), [(PAPER, label) for label in labels])
        self.assertEqual(figures_of("Ascher et al. 2022, eqs. 22, 26"), [("Ascher et al. 2022", "eqs. 22, 26")])

    def test_every_absent_figure_has_a_place(self) -> None:
        known = {(paper, figure) for paper, figure, _, _ in FIGURES}
        self.assertEqual(len(known), len(FIGURES))
        for source, _, _ in (*MISSING, *DRAWINGS):
            self.assertTrue(figures_of(source))
            self.assertLessEqual(set(figures_of(source)), known, source)


class SummaryTest(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="eipc-papers-")
        self.addCleanup(scratch.cleanup)
        self.summary = Summary(Path(scratch.name))

    def row(self, figure: str) -> tuple[str, str, str]:
        """Verdict, records met, why."""
        row = next(r for r in self.summary.rows() if r[:2] == [PAPER, figure])
        return row[3], row[4], row[6]

    def keep(self, *records: PaperRecord) -> None:
        self.summary.keep("part", records)

    def test_a_failure_makes_a_figure_different_and_says_what_was_asked(self) -> None:
        claim = Claim(f"{PAPER}, Fig. 4", "stops", "theory")
        self.keep(claim.at_most("good", 1, 2), claim.at_most("bad", math.inf, 2))
        self.assertEqual(self.row("Fig. 4"), ("different", "1 of 2", "bad is inf, asked <= 2"))

    def test_verdicts(self) -> None:
        self.keep(Claim(f"{PAPER}, Fig. 1", "sticks", "").at_most("a", 1, 2), Claim(f"{PAPER}, Fig. 5", NOT_PUBLISHED, "").at_most("b", 1, 2),
                  Claim(f"{PAPER}, Fig. 6", "grows", "", "it shrinks").at_most("c", 1, 2), Claim(f"{PAPER}, Fig. 7", "", "", "no mesh").reported("d", None),
                  Claim(f"{PAPER}, Fig. 2", "", NO_EXPERIMENT, "a drawing").reported("e", None))
        verdicts = [self.row(f"Fig. {n}")[0] for n in (1, 5, 6, 7, 2, 8)]
        self.assertEqual(verdicts, ["reproduced", NOT_PUBLISHED, "different", "absent", NO_EXPERIMENT, NOT_RUN])
        self.assertEqual(self.row("Fig. 6")[2], "it shrinks")

    def test_what_is_there_in_part_only_is_not_reproduced(self) -> None:
        self.keep(Claim(f"{PAPER}, Fig. 1", "sticks", "").at_most("a", 1, 2), Claim(f"{PAPER}, Fig. 1", "slips", "", "no mesh").reported("b", None))
        self.assertEqual(self.row("Fig. 1")[::2], ("different", "no mesh"))

    def test_a_part_replaces_its_records_and_keeps_those_of_others(self) -> None:
        self.keep(Claim(f"{PAPER}, Fig. 1", "sticks", "").at_most("a", 3, 2))
        self.summary.keep("other", [Claim(f"{PAPER}, Fig. 4", "stops", "").at_most("b", 1, 2)])
        self.keep(Claim(f"{PAPER}, Fig. 1", "sticks", "").at_most("a", 1, 2))
        self.assertEqual([self.row("Fig. 1")[0], self.row("Fig. 4")[0]], ["reproduced", "reproduced"])

    def test_pages_of_no_figure_are_linked(self) -> None:
        with tempfile.TemporaryDirectory(prefix="eipc-papers-") as folder:
            for part in ("slide", "schemes"):
                (Path(folder) / f"papers_{part}.md").write_text("# a page")
            Summary(Path(folder)).write()
            text = (Path(folder) / "papers.md").read_text()
        self.assertIn("Beside the figures: [schemes](papers_schemes.md).", text)

    def test_an_unknown_figure_is_refused(self) -> None:
        with self.assertRaises(ValueError):
            self.keep(Claim(f"{PAPER}, Fig. 99", "", "").at_most("a", 1, 2))


if __name__ == "__main__":
    unittest.main()
