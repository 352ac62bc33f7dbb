"""The page of a paper: what stands in docs/papers/<name>.md, in which the part between two marks is
made here: the claims, the pictures, and what each experiment took."""
import os
import re
import textwrap

import draw
import plan
import store

BEGIN = "<!-- From here on it is made by `make papers`; change bench/papers instead. -->"
END = "<!-- As far as here. -->"


def judge(claim, found):
    """Its verdict. `found`: {name of an experiment: Rows}."""
    if claim.experiment is None:
        return claim.judge()
    rows = found.get(claim.experiment)
    if not rows:
        notes = rows.notes if rows is not None else ()
        return plan.Verdict(plan.NOT_MEASURED, "-", "; ".join(notes) or "no rows of this run")
    try:
        return claim.judge(rows)
    except plan.Missing as why:
        text = str(why)
    except (ArithmeticError, LookupError, ValueError) as why:  # no rows, or those of a short run
        text = f"the rows do not suffice ({type(why).__name__}: {why})"
    return plan.Verdict(plan.NOT_MEASURED, "-", "; ".join([text, *rows.notes]))


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


COLUMNS = 100


def wrapped(text, first="", rest=""):
    """Lines of a paragraph; no word is broken."""
    return textwrap.wrap(" ".join(text.split()), COLUMNS, initial_indent=first,
                         subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)


def table_of_claims(paper, found):
    yield "| where | the paper says | its number | ours | measured by | verdict |"
    yield "|---|---|---|---|---|---|"
    for claim in paper.claims:
        verdict = judge(claim, found)
        word = f"**{verdict.word}**" + (f": {verdict.why}" if verdict.why else "")
        row = (claim.where, claim.says, claim.number, verdict.ours,
               f"[{claim.experiment}](#{claim.experiment})" if claim.experiment else "-", word)
        yield "| " + " | ".join(map(cell, row)) + " |"


def pictures(paper, experiment, rows, heading, folder):
    """Lines of the page."""
    for figure in paper.figures:
        if figure.experiment != experiment.name:
            continue
        path = os.path.join(folder, figure.name + ".png")
        if not draw.can_draw():
            yield f"({figure.of}: not drawn, Python's matplotlib is missing.)"
        elif draw.draw(figure, experiment, rows, heading, path):
            yield f"![{figure.name}]({paper.name}/{figure.name}.png)"
            yield ""
            yield from wrapped(f"*Beside {figure.of} of the paper:* {figure.caption}")
        else:
            yield f"({figure.of}: nothing to draw in this run.)"
        yield ""


def about(experiment, rows, steps):
    """Its heading, how it is measured, what is missing."""
    yield f"### {experiment.name}"
    yield ""
    yield from wrapped(f"{experiment.title} By hand: `{experiment.command}`")
    yield ""
    seconds = sum(each["seconds"] for each in steps)
    if rows.rows:
        dates = sorted({each["date"] for each in steps})
        when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
        yield f"{len(rows.rows)} figures in {seconds:.0f} s, {when}."
        yield ""
    for note in rows.notes:
        yield from wrapped(note, "- ", "  ")
    if rows.notes:
        yield ""


def heading_of(machine, mode, load):
    return (f"{machine['processor']}, {machine['cores']} cores, {machine['system']}; "
            f"load before: {load:.1f}; {mode} run")


def made_part(paper, kept, run):
    """`kept`: {experiment name: ([what the store has], Rows)}; `run`: machine, mode, load, and the
    folder of the pictures."""
    found = {name: rows for name, (_, rows) in kept.items()}
    heading = heading_of(run["machine"], run["mode"], run["load"])
    versions = ", ".join(f"{what} {version}" for what, version in run["machine"]["versions"])
    yield "## Figures of one run"
    yield ""
    yield from wrapped(f"{heading}; {versions}.")
    if run["mode"] != "whole":
        yield "A short run: figures of a whole one are steadier."
    yield ""
    yield "### Claims"
    yield ""
    yield from table_of_claims(paper, found)
    yield ""
    for experiment in paper.experiments:
        steps, rows = kept.get(experiment.name, ([], plan.Rows([])))
        if not steps:
            rows = plan.Rows([], rows.notes or ["Not measured in this run."])
        yield from about(experiment, rows, steps)
        if not rows:
            continue
        store.write_csv(os.path.join(run["folder"], experiment.name + ".csv"),
                        [dict(row, unit=experiment.unit_of(row["panel"])) for row in rows.rows])
        yield f"[All figures of it]({paper.name}/{experiment.name}.csv)"
        yield ""
        yield from pictures(paper, experiment, rows.rows, heading, run["folder"])


def replace_part(text, part):
    """The page with that part between its marks; without marks behind it."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if begin and not end:
        raise ValueError(f"'{BEGIN}' without '{END}'")
    if not begin:
        before, after = text.rstrip() + "\n\n", "\n"
    return before + BEGIN + "\n\n" + "\n".join(part).rstrip() + "\n\n" + END + after


def with_links_from(text, template, folder):
    """A page that stands elsewhere leads to the same files as its template."""
    home = os.path.dirname(os.path.realpath(template))

    def link(found):
        path, hash_mark, place = found[1].partition("#")
        target = os.path.join(home, path)
        if not path or not os.path.exists(target):
            return found[0]
        return f"]({os.path.relpath(target, os.path.realpath(folder))}{hash_mark}{place})"
    return re.sub(r"\]\(([^)\s]+)\)", link, text)


def write(paper, kept, run, template, folder):
    """`folder`/<name>.md after `template`, and its pictures and tables in `folder`/<name>/."""
    run = dict(run, folder=os.path.join(folder, paper.name))
    os.makedirs(run["folder"], exist_ok=True)
    with open(template, encoding="utf-8") as page:
        text = page.read()
    path = os.path.join(folder, paper.name + ".md")
    if os.path.realpath(folder) != os.path.dirname(os.path.realpath(template)):
        text = with_links_from(text, template, folder)
    text = replace_part(text, made_part(paper, kept, run))
    with open(path, "w", encoding="utf-8") as page:
        page.write(text)
    return path
