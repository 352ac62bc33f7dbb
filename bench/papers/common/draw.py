"""Draws figures from rows: a panel of lines (or bars) for each, coloured by series. It needs
matplotlib (scripts/install-deps plot)."""
import importlib.util

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#404040", "#882255",
           "#999933", "#661100", "#44AA99", "#AA4499")
STROKES = ("-", "--", ":", "-.")
ACROSS = 2


def can_draw():
    return importlib.util.find_spec("matplotlib") is not None


def size_text(size):
    for shift, unit in ((20, "M"), (10, "K")):
        if size >= 1 << shift and size % (1 << shift) == 0:
            return f"{int(size) >> shift}{unit}"
    return f"{size:g}"


def lines_of(rows):
    lines = {}
    for row in rows:
        lines.setdefault(row["series"], []).append((row["x"], row["value"]))
    return lines


def style_of(names, series):
    """The same in all panels of a figure."""
    place = names.index(series)
    return {"color": COLOURS[place % len(COLOURS)],
            "linestyle": STROKES[place // len(COLOURS) % len(STROKES)]}


def draw_bars(axis, lines, names, figure):
    places = list(dict.fromkeys(x for points in lines.values() for x, _ in points))
    width = 0.8 / len(lines)
    for i, (series, points) in enumerate(lines.items()):
        axis.bar([places.index(x) + i * width for x, _ in points], [value for _, value in points],
                 width, color=style_of(names, series)["color"], label=series)
    names_of_places = [place.replace(" ", "\n") if isinstance(place, str) else size_text(place)
                       for place in places]
    axis.set_xticks([i + 0.4 - width / 2 for i in range(len(places))], names_of_places,
                    fontsize="x-small")
    if figure.is_log[1]:
        axis.set_yscale("log")


def draw_lines(axis, lines, names, figure):
    for series, points in lines.items():
        axis.plot(*zip(*sorted(points)), marker="o", markersize=3, label=series,
                  **style_of(names, series))
    if figure.is_log[0]:
        axis.set_xscale("log", base=2)
        axis.xaxis.set_major_formatter(lambda x, _: size_text(x))
    if figure.is_log[1]:
        axis.set_yscale("log")


def draw(figure, experiment, rows, heading, path):
    """False if there is nothing to draw."""
    import matplotlib  # only who draws needs it
    matplotlib.use("Agg")
    from matplotlib import pyplot
    rows = [row for row in rows if not figure.series or row["series"] in figure.series]
    panels = figure.panels or {row["panel"]: row["panel"] for row in rows}
    panels = {panel: title for panel, title in panels.items()
              if any(row["panel"] == panel for row in rows)}
    if not panels:
        return False
    names = list(dict.fromkeys(row["series"] for row in rows if row["panel"] in panels))
    across = min(ACROSS, len(panels))
    down = (len(panels) + across - 1) // across
    picture, axes = pyplot.subplots(down, across, squeeze=False,
                                    figsize=(5 * across, 3.4 * down + 0.4))
    for axis in axes.flat[len(panels):]:
        axis.remove()
    for axis, (panel, title) in zip(axes.flat, panels.items()):
        lines = lines_of(row for row in rows if row["panel"] == panel)
        (draw_bars if figure.drawing == "bars" else draw_lines)(axis, lines, names, figure)
        axis.set_title(title, fontsize="small")
        axis.set_xlabel(figure.axis, fontsize="small")
        axis.set_ylabel(experiment.unit_of(panel), fontsize="small")
        axis.grid(color="#DDDDDD")
        axis.legend(fontsize="xx-small")
    picture.suptitle(heading, fontsize="x-small")
    picture.tight_layout()
    picture.savefig(path, dpi=100, metadata={"Software": None})
    pyplot.close(picture)
    return True
