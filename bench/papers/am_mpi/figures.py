"""Draws an experiment as the paper does: a panel of times over x for each MPI and case, lines by
series (colour) and model (stroke). Needs matplotlib (scripts/install-deps plot)."""
import importlib.util

COLOURS = {"put": "#0072B2", "accumulate": "#E69F00", "am": "#D55E00", "quiet": "#404040",
           "accumulate+ptp": "#F0C868", "am+ptp": "#882255", "default": "#0072B2",
           "ddt": "#E69F00", "two-sided": "#009E73"}
STROKES = {"plain": ":", "async": "--", "ours": "-"}


def can_draw():
    return importlib.util.find_spec("matplotlib") is not None


def panels_of(rows):
    """{(mpi, case, panel): its rows}, one MPI after the other."""
    panels = {}
    for row in sorted(rows, key=lambda row: row["mpi"]):
        panels.setdefault((row["mpi"], row["case"], row["panel"]), []).append(row)
    return panels


def draw_bars(axis, lines):
    for place, ((model, series), points) in enumerate(sorted(lines.items())):
        axis.bar(place, points[0][1], color=COLOURS[series])
    names = [f"{series}\n{model}" for model, series in sorted(lines)]
    axis.set_xticks(range(len(names)), names, fontsize="xx-small")


def draw_lines(axis, lines, is_linear):
    for (model, series), points in lines.items():
        axis.plot(*zip(*sorted(points)), STROKES[model], marker="o", markersize=3,
                  color=COLOURS[series], label=f"{series}, {model}")
    if not is_linear:
        axis.set_xscale("log", base=4)
    axis.set_yscale("log")
    axis.grid(color="#DDDDDD")
    axis.legend(fontsize="xx-small")


def draw_panel(axis, experiment, key, rows):
    lines = {}
    for row in rows:
        lines.setdefault((row["model"], row["series"]), []).append((row["x"], row["value"]))
    if all(len(points) == 1 for points in lines.values()):
        draw_bars(axis, lines)
    else:
        draw_lines(axis, lines, experiment.name in ("bfs", "stencil"))
    axis.set_title(", ".join(key), fontsize="small")
    axis.set_xlabel(experiment.axis.get(key[2], experiment.axis.get(None)), fontsize="small")
    axis.set_ylabel(experiment.unit_of(key[2]), fontsize="small")


def draw(experiment, rows, heading, path):
    import matplotlib  # only who draws needs it
    matplotlib.use("Agg")
    from matplotlib import pyplot
    panels = panels_of(rows)
    across = min(3, len(panels) // len({mpi for mpi, *_ in panels}))
    down = (len(panels) + across - 1) // across
    figure, axes = pyplot.subplots(down, across, squeeze=False,
                                   figsize=(4.5 * across, 3.5 * down + 0.5))
    for axis in axes.flat[len(panels):]:
        axis.remove()
    for axis, (key, its) in zip(axes.flat, panels.items()):
        draw_panel(axis, experiment, key, its)
    figure.suptitle(f"{experiment.name}: {heading}", fontsize="small")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
