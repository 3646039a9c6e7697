"""Hauth 2003: stability limits, regions and work over precision of explicit and implicit methods on its examples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from page import Page
from paper_records import NOT_PUBLISHED, Claim, PaperRecord, scheme_runs
from validation import Context

# Example 1: y' = lambda y. 2: y'' = -5/2 y - 5 y'. 3: m z'' = k (l0 - z) - d z' + m g. The wave: y'' = -5 y.
EXAMPLES: dict[str, dict[str, Any]] = {
    "1a": {"problem": {"kind": "rate", "rate": 2.0}, "q": 1.0, "v": 0.0, "end": 1.0},
    "1b": {"problem": {"kind": "rate", "rate": -15.0}, "q": 1.0, "v": 0.0, "end": 1.0},
    "2": {"problem": {"kind": "oscillator", "stiffness": 2.5, "damping": 5.0}, "q": 0.0, "v": 1.0, "end": 10.0},
    "3": {"problem": {"kind": "oscillator", "stiffness": 1000.0, "damping": 10.0, "rest": -1.01}, "q": -1.0, "v": -5.0, "end": 2.0},
    "wave": {"problem": {"kind": "oscillator", "stiffness": 5.0}, "q": 1.0, "v": 0.0, "end": 10.0},
}
METHODS = {"Euler": ("EXPLICIT_EULER", 0.5), "midpoint": ("EXPLICIT_MIDPOINT", 0.5), "RK4": ("RUNGE_KUTTA_4", 0.5),
           "implicit Euler": ("BACKWARD_EULER", 0.5), "implicit midpoint": ("IMPLICIT_MIDPOINT", 0.5), "BDF2": ("BDF2", 0.5),
           "BDF3": ("BDF3", 0.5), "BDF4": ("BDF4", 0.5), "BDF5": ("BDF5", 0.5), "BDF6": ("BDF6", 0.5), "TR": ("TRAPEZOIDAL", 0.5), "TR-BDF2": ("TR_BDF2", 0.5),
           "SDIRK2": ("SDIRK2", 0.5), "Verlet": ("VARIATIONAL", 0.0), "Verlet, centred": ("VERLET", 0.5)}
ORDERS = {"Euler": 1, "midpoint": 2, "RK4": 4, "implicit Euler": 1, "implicit midpoint": 2, "BDF2": 2, "BDF3": 3, "BDF4": 4, "BDF5": 5, "BDF6": 6, "TR": 2, "TR-BDF2": 2,
          "SDIRK2": 2, "Verlet": 1, "Verlet, centred": 2}
# Largest stable steps, s: where |R| = 1 at the example's eigenvalues; of Verlet with lagged damping where h^2 w^2 + 2 h d = 4.
LIMITS = {("1b", "Euler"): 2 / 15, ("1b", "midpoint"): 2 / 15, ("1b", "RK4"): 2.785293563 / 15,
          ("2", "Euler"): 0.450807, ("2", "midpoint"): 0.450807, ("2", "RK4"): 0.627812, ("2", "Verlet"): 0.366432,
          ("3", "Euler"): 0.01, ("3", "midpoint"): 0.0400, ("3", "RK4"): 0.093542, ("3", "Verlet"): 0.0540312,
          ("wave", "Verlet"): 2 / math.sqrt(5), ("wave", "Verlet, centred"): 2 / math.sqrt(5)}

# Explicit Euler on example 3 is the slowest: it shrinks and grows by a thousandth in two steps that are 1 % off its limit, and 1.001^15000 is
# 3e6. Solutions are of order one at the start, and undamped ones stay so below the limit: a hundred separates them.
GROWTH_STEPS, GROWN = 30000, 100.0


def exact(example: str, time: float) -> tuple[float, float]:
    """Position and velocity at `time`, from the closed solution; the velocity of an equation of first order is not used."""
    case = EXAMPLES[example]
    if case["problem"]["kind"] == "rate":
        return math.exp(case["problem"]["rate"] * time), 0.0
    stiffness, damping = case["problem"]["stiffness"], case["problem"].get("damping", 0.0)
    rest = case["problem"].get("rest", 0.0)
    root = np.sqrt(complex(damping**2 / 4 - stiffness))
    a, b = -damping / 2 + root, -damping / 2 - root
    y0, v0 = case["q"] - rest, case["v"]
    c = (v0 - b * y0) / (a - b)
    first, second = c * np.exp(a * time), (y0 - c) * np.exp(b * time)
    return float((first + second).real + rest), float((a * first + b * second).real)


def request(example: str, method: str, h: float, steps: int, every: int = 1) -> dict[str, Any]:
    """Methods of more than two steps start from the closed solution."""
    scheme, alpha = METHODS[method]
    case = EXAMPLES[example]
    past = {"past": [exact(example, -h * k) for k in range(1, ORDERS[method])]} if scheme.startswith("BDF") and ORDERS[method] > 2 else {}
    return {"problem": case["problem"], "scheme": scheme, "alpha": alpha, "h": h, "steps": steps, "every": every, "q": case["q"], "v": case["v"], **past}


# Steps of a run over SAMPLES, coarse to fine. On example 3 a method of order one damps or drives the oscillation (1,000 / s^2) by h w^2 / 2
# a second, which over 2 s has to be small: h below 1e-4 s.
SAMPLES = 25
REFINEMENTS = {"1a": (1, 2, 4, 8, 16, 32, 64), "1b": (1, 2, 4, 8, 16, 32, 64), "2": (10, 20, 40, 80, 160, 320, 640),
               "3": (10, 20, 40, 80, 160, 320, 640, 1280), "wave": (10, 20, 40, 80, 160, 320, 640)}
# A step rounds a position by eps of the largest; errors a hundred times the sum of that over the steps are the method's.
STEP_ROUNDING = 100 * float(np.finfo(float).eps)
# Methods of the table that the paper's figures do not have.
OTHERS = ("BDF3", "BDF4", "BDF5", "BDF6", "TR", "TR-BDF2", "SDIRK2")


VERLET = "Verlet possesses order 2"


def serves(example: str, method: str) -> bool:
    """Methods that need q and v apart do not take equations of first order."""
    return EXAMPLES[example]["problem"]["kind"] != "rate" or not method.startswith("Verlet")


def solutions(context: Context, page: Page) -> list[PaperRecord]:
    """Figures 1 and 2: the examples themselves, by RK4 with many steps."""
    cases = [("1a", 1.0, "Fig. 1"), ("1b", 1.0, "Fig. 1"), ("3", 2.0, "Fig. 2"), ("2", 1.0, "Example 2")]
    records = []
    for example, time, figure in cases:
        run, = scheme_runs(context, [request(example, "RK4", time / 4000, 4000, 4000)])
        closed, _ = exact(example, time)
        claim = Claim(f"Hauth 2003, {figure}", NOT_PUBLISHED, "closed solution of the example, 1e-6 of it")
        records.append(claim.near(f"example_{example}.end", run["q"][-1], closed, 1e-6 * abs(closed)))
    low, = scheme_runs(context, [request("3", "RK4", 1e-5, 10000)])
    least = int(np.argmin(low["q"]))
    claim = Claim("Hauth 2003, Fig. 2", NOT_PUBLISHED, "closed solution of the example")
    records += [claim.near("example_3.least", min(low["q"]), -1.133849, 1e-6, "m"), claim.near("example_3.least_time", 1e-5 * least, 0.04724, 2e-5, "s")]
    page.section("Hauth 2003: the examples (Figs. 1, 2)")
    page.table(["figure", "closed", "ours"], [[r.name, r.target, r.value] for r in records])
    return records


def limits(context: Context, page: Page) -> list[PaperRecord]:
    """A step 1 % below the limit keeps the solution bounded, one 1 % above makes it grow."""
    keys = list(LIMITS)
    runs = scheme_runs(context, [request(e, m, f * LIMITS[e, m], GROWTH_STEPS, GROWTH_STEPS) for e, m in keys for f in (0.99, 1.01)])
    records, rows = [], []
    for (example, method), below, above in zip(keys, runs[::2], runs[1::2]):
        rest = EXAMPLES[example]["problem"].get("rest", 0.0)
        low, high = (math.inf if run["q"][-1] is None else abs(run["q"][-1] - rest) for run in (below, above))  # null: beyond numbers
        bounded, grows = low < GROWN, high > GROWN
        claim = Claim("Hauth 2003, Figs. 3, 5, 7", "a limit of the step, shown by the curves", "|R| = 1 at the eigenvalues of the example")
        records.append(claim.equal(f"limit.{example}.{method}", bounded and grows, True))
        rows.append([example, method, LIMITS[example, method], low, high])
    page.section("Hauth 2003: limits of the step (Figs. 3, 5, 7)")
    page.text(f"How far the solution is from rest after {GROWTH_STEPS:,} steps of 0.99 and 1.01 times the closed limit. Verlet takes the velocity of damping from the step before.")
    page.table(["example", "method", "limit (s)", "1 % below", "1 % above"], rows)
    return records


def _slope(example: str, method: str, steps: np.ndarray, errors: np.ndarray) -> PaperRecord:
    """Order: the slopes s1 and s2 between the finest three halved steps whose errors are not of rounding, extrapolated to no step, 2 s2 - s1."""
    damped = bool(EXAMPLES[example]["problem"].get("damping"))
    figure = "Fig. 7" if example == "wave" else ("Fig. 3" if method in ("Euler", "midpoint", "RK4") else "Fig. 5")
    source = "order of the method" if method in OTHERS else f"Hauth 2003, {figure}"
    claim, expected = Claim(source, NOT_PUBLISHED, "order of the method"), ORDERS[method]
    if method == "Verlet":
        claim = Claim(claim.source, VERLET, "order of symplectic Euler in (q, v)", "the paper's Verlet, written with whole steps, is symplectic Euler, of first order in v; its figure has the staggered start")
    elif method == "Verlet, centred":
        lagged = "it takes the velocity of damping from the step before, which is of first order"
        claim = Claim(claim.source, VERLET, "order of the method with lagged damping" if damped else "order of the method", lagged if damped else "")
        expected = 1 if damped else expected
    largest = max(abs(exact(example, EXAMPLES[example]["end"] * k / SAMPLES)[0]) for k in range(SAMPLES + 1))
    resolved = errors > STEP_ROUNDING * steps * largest
    slopes = np.log2(errors[resolved][:-1] / errors[resolved][1:])  # steps are halved
    slope = float(2 * slopes[-1] - slopes[-2]) if len(slopes) > 1 else math.nan
    return claim.within(f"slope.{example}.{method}", slope, expected - 0.1, expected + 0.1)


def work_precision(context: Context, page: Page) -> list[PaperRecord]:
    """Figures 3, 5 and 7: error over work; its slope over the finest steps is the order."""
    from study_plots import plot_lines

    records = []
    page.section("Hauth 2003: work over precision (Figs. 3, 5, 7)")
    page.text(f"""The largest error of the position at {SAMPLES} times over evaluations of the force (explicit) or linear solves times three (implicit). BDF3 to BDF6, which
        are not in scenes because they amplify oscillations, start from the closed solution; BDF2 from a step of implicit Euler. Slopes are those between the finest
        three steps that rounding does not reach, extrapolated to no step.""")
    for example, case in EXAMPLES.items():
        methods = [m for m in METHODS if serves(example, m)]
        steps = SAMPLES * np.array(REFINEMENTS[example])
        runs = scheme_runs(context, [request(example, m, case["end"] / n, int(n), int(n) // SAMPLES) for m in methods for n in steps])
        closed = np.array([exact(example, case["end"] * k / SAMPLES)[0] for k in range(SAMPLES + 1)])
        found = np.array([run["q"] for run in runs], dtype=float)  # null: beyond numbers
        errors = np.nan_to_num(np.abs(found - closed).max(axis=1), nan=np.inf).reshape(len(methods), -1)
        work = np.array([run["evaluations"] + 3 * run["solves"] for run in runs]).reshape(len(methods), -1)
        shown = np.clip(errors, 1e-16, 1e2)
        plot_lines(context.figures / f"papers_work_{example}.png", {m: (work[i], shown[i]) for i, m in enumerate(methods)}, "work", "error", log=True)
        page.figure(f"papers_work_{example}.png", f"Example {example}: error over work")
        records += [_slope(example, method, steps, errors[i]) for i, method in enumerate(methods)]
    return records


def regions(context: Context, page: Page) -> list[PaperRecord]:
    """Figure 4: |R| over the complex plane, from one step of the table at each point."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    x, y = np.meshgrid(np.linspace(-5, 5, 81), np.linspace(-5, 5, 81))
    values = np.stack([x.ravel(), y.ravel()], axis=1).tolist()
    names = ("Euler", "midpoint", "RK4", "implicit Euler", "implicit midpoint")
    runs = scheme_runs(context, [{"problem": {"kind": "dahlquist", "values": values}, "scheme": METHODS[m][0]} for m in names])
    figure, panels = plt.subplots(1, len(names), figsize=(2.6 * len(names), 2.8), constrained_layout=True)
    records = []
    for axes, name, run in zip(panels, names, runs):
        factors = np.hypot(*np.array(run["factors"], dtype=float).T).reshape(x.shape)  # null: at a pole
        axes.contourf(x, y, factors <= 1, levels=[0.5, 1.5], colors=["#c9d8e8"])
        axes.set_title(name, fontsize=9)
        axes.set_aspect("equal")
        if name.startswith("implicit"):
            left = factors[x < -1e-9]
            records.append(Claim("Hauth 2003, Fig. 4", "A-stable", "|R| < 1 in the left half-plane").at_most(f"region.{name}.left", float(left.max()), 1.0))
        else:
            real = factors[40, x[40] < 0]
            # The grid has steps of 1/8.
            reach = float(-x[40][x[40] < 0][real <= 1 + 1e-12].min())
            limit = {"Euler": 2.0, "midpoint": 2.0, "RK4": 2.785}[name]
            records.append(Claim("Hauth 2003, Fig. 4", f"real axis to -{limit:g}", "R(z) of the method").within(f"region.{name}.real", reach, limit - 0.125, limit))
    figure.savefig(context.figures / "papers_regions.png", dpi=130)
    plt.close(figure)
    page.section("Hauth 2003: stability regions (Fig. 4)")
    page.text("Shaded: |R(z)| at most 1, one step of the table of schemes at each of 6,561 points.")
    page.figure("papers_regions.png", "Stability regions")
    return records


def tables(context: Context, page: Page) -> list[PaperRecord]:
    """Tables 2 and 3 against the coefficients in the product's table."""
    table, = scheme_runs(context, [{"problem": {"kind": "table"}}])
    records = []
    # sum_j alpha_j Y_{1-j} = h f: the paper's rows of Table 3, k = 2..6.
    alphas = {2: [3 / 2, -2, 1 / 2], 3: [11 / 6, -3, 3 / 2, -1 / 3], 4: [25 / 12, -4, 3, -4 / 3, 1 / 4],
              5: [137 / 60, -5, 5, -10 / 3, 5 / 4, -1 / 5], 6: [147 / 60, -6, 15 / 2, -20 / 3, 15 / 4, -6 / 5, 1 / 6]}
    for k, alpha in alphas.items():
        row = table[f"BDF{k}"]["rows"][0]
        ours = [1 / row["b"], *(-c / row["b"] for c in row["past"][:k])]
        worst = float(np.abs(np.array(ours) - alpha).max())
        records.append(Claim("Hauth 2003, Table 3", "coefficients", "the paper's table").at_most(f"table_3.BDF{k}", worst, 1e-13))
    # Lower triangles of A, and b: the paper's Table 2.
    tableaus = {"RK4": ("RUNGE_KUTTA_4", [[], [1 / 2], [0, 1 / 2], [0, 0, 1]], [1 / 6, 1 / 3, 1 / 3, 1 / 6]), "midpoint": ("EXPLICIT_MIDPOINT", [[], [1 / 2]], [0, 1])}
    for name, (scheme, a, b) in tableaus.items():
        stages, ours = len(b), table[scheme]
        expected = np.array([[*row, *[0.0] * (stages - len(row))] for row in a])
        worst = max(float(np.abs(np.array([row[key] for row in ours["rows"]])[:, :stages] - expected).max()) for key in ("speeds", "forces"))
        worst = max(worst, float(np.abs(np.array(ours["end"])[:stages] - b).max()))
        records.append(Claim("Hauth 2003, Table 2", "coefficients", "the paper's table, A and b").at_most(f"table_2.{name}", worst, 1e-15))
    return records


def run_methods(context: Context, page: Page) -> list[PaperRecord]:
    records = []
    for part in (solutions, limits, work_precision, regions, tables):
        records += part(context, page)
    return records
