"""What the experiments of a paper are made of; a file paper.py of each one fills it in.

A *step* is what is measured at a time and kept, so that an interrupted run goes on behind it. Its
function gets a Bench (machine.py) and gives rows: {panel, series, x, value, ...}. An *experiment*
is all steps of one question; a *figure* draws panels of an experiment; a *claim* is a sentence of
the paper with a judge, which looks at the rows and gives a verdict.
"""
import dataclasses
from typing import Callable

MODES = ("tiny", "quick", "whole")
CONFIRMED, BETTER, NOT_CONFIRMED = "confirmed", "better", "not confirmed"
CANNOT, NOT_MEASURED = "cannot be tested here", "not measured"


class Missing(Exception):
    """A judge lacks rows; the text says which."""


@dataclasses.dataclass(frozen=True)
class Verdict:
    """`ours` stands in the table beside the paper's number."""
    word: str
    ours: str
    why: str = ""


def confirmed(ours, why=""):
    return Verdict(CONFIRMED, ours, why)


def better(ours, why=""):
    return Verdict(BETTER, ours, why)


def not_confirmed(ours, why=""):
    return Verdict(NOT_CONFIRMED, ours, why)


def cannot(why, ours="-"):
    return Verdict(CANNOT, ours, why)


@dataclasses.dataclass(frozen=True)
class Step:
    """`seconds`: about how long, by mode. `cores`: on fewer it gives no rows, and says so."""
    name: str
    measure: Callable  # of a Bench; rows
    seconds: dict
    cores: int = 1


@dataclasses.dataclass(frozen=True)
class Experiment:
    """`steps`: function of a mode, gives a list. `command`: how a reader measures it by hand.
    `units`: of each panel, of its values; None stands for all others."""
    name: str
    title: str
    command: str
    steps: Callable
    units: dict

    def unit_of(self, panel):
        return self.units.get(panel, self.units.get(None, ""))


@dataclasses.dataclass(frozen=True)
class Figure:
    """A picture of our own of the kind of `of`, a figure of the paper. `panels`: {panel: title} of
    the experiment; an empty one stands for all there are. So does an empty `series`. `drawing`:
    "lines", or "bars"."""
    name: str
    of: str
    caption: str
    experiment: str
    axis: str
    panels: dict = dataclasses.field(default_factory=dict)
    drawing: str = "lines"
    series: tuple = ()
    is_log: tuple = (True, True)  # x, y


@dataclasses.dataclass(frozen=True)
class Claim:
    """`where` in the paper, what it `says`, its `number` ("-": it gives none), the `experiment`
    whose rows the `judge` looks at (None: no experiment; the judge gets nothing)."""
    where: str
    says: str
    number: str
    experiment: str | None
    judge: Callable


@dataclasses.dataclass(frozen=True)
class Paper:
    name: str
    title: str
    experiments: tuple
    figures: tuple
    claims: tuple


class Rows:
    """The rows of an experiment, for judges."""

    def __init__(self, rows, notes=()):
        self.rows, self.notes = list(rows), list(notes)

    def where(self, **keys):
        return Rows([row for row in self.rows
                     if all(row.get(key) == value for key, value in keys.items())], self.notes)

    def value(self, **keys):
        """Of the one row that has these keys."""
        found = self.where(**keys).rows
        if len(found) != 1:
            words = ", ".join(f"{key} {value}" for key, value in keys.items())
            raise Missing(f"{len(found)} rows with {words}" if found else f"no row with {words}")
        return found[0]["value"]

    def values(self, **keys):
        """{x: value} of all rows that have these keys; at least one."""
        found = self.where(**keys).rows
        if not found:
            raise Missing("no rows with " + ", ".join(f"{key} {keys[key]}" for key in keys))
        return {row["x"]: row["value"] for row in found}

    def ratios(self, one, other):
        """{x: value of one over that of the other} wherever both have one; `one` and `other` are
        keys of series."""
        ones, others = self.values(**one), self.values(**other)
        both = {x: ones[x] / others[x] for x in ones if others.get(x)}
        if not both:
            raise Missing(f"no x that {one} and {other} share")
        return both

    def all(self, key):
        """The different values of that key, in order."""
        return list(dict.fromkeys(row[key] for row in self.rows))

    def __bool__(self):
        return bool(self.rows)
