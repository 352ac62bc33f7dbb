"""Panels as a picture, by matplotlib. The only module that needs it."""
import math
import textwrap

import matplotlib
import matplotlib.lines
import matplotlib.patches
import matplotlib.ticker

matplotlib.use('Agg')  # no screen is asked for
import matplotlib.pyplot as plt  # noqa: E402  (the line above chooses what it loads)

# Okabe and Ito's palette, which all kinds of colour vision tell apart; its yellow is too light for
# lines, its black is the limit's.
COLOURS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9')
LIMIT = '#404040'
GRID = '#DDDDDD'
MARKERS = 'os^DvP'
DOTS_PER_INCH = 150
WIDTH_INCHES = 8.0
LINE_INCHES = 0.19  # of small text
CHARACTER_INCHES = 0.066  # of small text, on average, with some to spare
LINES_INCHES = 3.5
RATIO_INCHES = 1.0
BAR_INCHES = 0.36   # with its gap
AXIS_INCHES = 0.55  # tick labels, label and gap below a panel
TITLE_INCHES = 0.34
MARGIN_INCHES = 0.12
LEFT_INCHES = 1.1
RIGHT_INCHES = 0.25
STYLE = {'font.size': 9, 'axes.spines.top': False, 'axes.spines.right': False,
         'axes.edgecolor': '#808080', 'axes.axisbelow': True, 'grid.color': GRID,
         'xtick.color': '#303030', 'ytick.color': '#303030', 'legend.frameon': False,
         'svg.hashsalt': 'photon-plot', 'pdf.fonttype': 42}


class Sheet:
    """Hands out axes from the top downwards, with sizes in inches."""

    def __init__(self, height_inches):
        self.figure = plt.figure(figsize=(WIDTH_INCHES, height_inches), dpi=DOTS_PER_INCH)
        self.height = height_inches
        self.used = 0.0

    def skip(self, inches):
        self.used += inches

    def axes(self, inches, left=LEFT_INCHES, sharex=None):
        self.used += inches
        box = (left / WIDTH_INCHES, 1 - self.used / self.height,
               1 - (left + RIGHT_INCHES) / WIDTH_INCHES, inches / self.height)
        return self.figure.add_axes(box, sharex=sharex)

    def text(self, inches, text, **options):
        self.figure.text(MARGIN_INCHES / WIDTH_INCHES, 1 - (self.used + inches / 2) / self.height,
                         text, va='center', **options)
        self.used += inches


def size_text(size_bytes):
    for shift, unit in ((30, 'Gi'), (20, 'Mi'), (10, 'Ki')):
        if size_bytes >= 1 << shift and size_bytes % (1 << shift) == 0:
            return f'{size_bytes >> shift} {unit}'
    return f'{size_bytes:,}'


def figure_text(value, takes_prefix=False):
    """Numbers for people, who care for three digits."""
    if takes_prefix:
        for scale, suffix in ((1e9, ' G'), (1e6, ' M')):
            if abs(value) >= scale:
                return f'{value / scale:.3g}{suffix}'
    return f'{value:,.0f}' if abs(value) >= 100 else f'{value:.3g}'


def quantity_text(value, unit):
    number = figure_text(value, unit.takes_prefix)
    return f'{number}/s' if unit.symbol == '1/s' else f'{number} {unit.symbol}'


def colour_of(index):
    return COLOURS[index % len(COLOURS)]


def dashes_of(index):
    """Where colours run out they return dotted; dashes are the limits'."""
    return '-' if index < len(COLOURS) else ':'


def use_sizes(axes, sizes):
    """A logarithmic axis of sizes; nought, which has no logarithm, stands left of the smallest."""
    positive = [size for size in sizes if size > 0]
    if 0 in sizes:
        smallest = positive[0] / 2
        axes.set_xscale('symlog', base=2, linthresh=smallest)
        axes.set_xlim(-smallest / 2, positive[-1] * 1.6)
    else:
        axes.set_xscale('log', base=2)
        axes.set_xlim(positive[0] / 1.6, positive[-1] * 1.6)
    step = math.ceil(len(sizes) / 12)
    axes.set_xticks(sizes[::step], [size_text(size) for size in sizes[::step]])
    axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())


def use_figures(axes, panel):
    """A rank that lost its core for a moment makes a p99 of milliseconds: the band may leave the
    picture, so that the lines fill it."""
    unit = panel.unit
    axes.set_yscale('log')
    largest = max(max(point.figure, point.limit or 0) for point in panel.points())
    low, high = axes.get_ylim()
    high = min(high, 10 * largest)
    axes.set_ylim(low, high)
    steps = (1, 2, 5) if high / low < 1000 else (1,)
    axes.yaxis.set_major_locator(matplotlib.ticker.LogLocator(subs=steps))
    axes.yaxis.set_major_formatter(lambda value, _: figure_text(value, unit.takes_prefix))
    axes.yaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())


def draw_series(axes, series, colour, panel):
    sizes = [point.size_bytes for point in series.points]
    banded = [point for point in series.points if point.p99 is not None]
    if len(banded) > 1:
        axes.fill_between([point.size_bytes for point in banded],
                          [point.figure for point in banded], [point.p99 for point in banded],
                          color=colour, alpha=0.2, linewidth=0)
    axes.plot(sizes, [point.figure for point in series.points], color=colour, linewidth=1.6,
              linestyle=dashes_of(panel.series.index(series)))
    for point in series.points:
        axes.plot(point.size_bytes, point.figure, color=colour, markersize=5, linestyle='none',
                  marker=MARKERS[panel.modes().index(point.mode) % len(MARKERS)],
                  markerfacecolor=colour if point.is_steady else 'white')


def draw_limit(axes, series, colour):
    limited = series.limits()
    axes.plot([point.size_bytes for point in limited], [point.limit for point in limited],
              color=colour, linewidth=1.4, linestyle=(0, (4, 2)),
              marker='_' if len(limited) == 1 else None)


def draw_ratio(axes, panel):
    top = 1.0
    for index, series in enumerate(panel.series):
        limited = [point for point in series.limits() if point.limit > 0]
        ratios = [point.figure / point.limit for point in limited]
        top = max([top, *ratios])
        axes.plot([point.size_bytes for point in limited], ratios, color=colour_of(index),
                  linewidth=1.4, marker='o', markersize=3)
    axes.axhline(1, color=LIMIT, linewidth=1.2, linestyle=(0, (4, 2)))
    axes.set_ylim(0, top * 1.15)
    axes.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.set_ylabel('ratio to\nlimit')
    axes.grid(True)


def limit_text(panel):
    names = dict.fromkeys(name for series in panel.series for name in series.limit_names())
    return ('limit: ' if len(panel.series) == 1 else 'limit of each: ') + '; then '.join(names)


def line_entries(panel):
    entries = []
    has_band = any(point.p99 is not None for point in panel.points())
    for index, series in enumerate(panel.series):
        label = series.label + (', p50' if panel.unit.symbol == 'ns' else '')
        entries.append(matplotlib.lines.Line2D([], [], color=colour_of(index), label=label,
                                               linewidth=1.6, linestyle=dashes_of(index)))
        if has_band and len(panel.series) == 1:
            entries.append(matplotlib.patches.Patch(color=colour_of(index), alpha=0.2,
                                                    linewidth=0, label='p50 to p99'))
    if has_band and len(panel.series) > 1:
        entries.append(matplotlib.patches.Patch(color=LIMIT, alpha=0.2, linewidth=0,
                                                label='p50 to p99'))
    if panel.has_ratio():
        entries.append(matplotlib.lines.Line2D([], [], color=LIMIT, linewidth=1.4,
                                               linestyle=(0, (4, 2)),
                                               label=limit_text(panel)))
    return entries


def marker_entries(panel):
    """What the shapes of points mean, where they mean anything."""
    entries = []
    modes = panel.modes()
    if len(modes) > 1 and set(modes) != {series.label for series in panel.series}:
        entries += [matplotlib.lines.Line2D([], [], color=LIMIT, linestyle='none', markersize=5,
                                            marker=MARKERS[index % len(MARKERS)], label=mode)
                    for index, mode in enumerate(modes)]
    if not all(point.is_steady for point in panel.points()):
        entries.append(matplotlib.lines.Line2D([], [], color=LIMIT, linestyle='none', marker='o',
                                               markersize=5, markerfacecolor='white',
                                               label='machine unsteady in this row'))
    return entries


def legend_lines(panel):
    return max(len(line_entries(panel)), len(marker_entries(panel)))


def draw_legend(axes, panel):
    """Lines in one column, shapes of points in another; above the figures, never over them."""
    blank = [matplotlib.lines.Line2D([], [], linestyle='none', label=' ')]
    columns = [line_entries(panel), marker_entries(panel)]
    handles = [entry for entries in columns if entries
               for entry in entries + blank * (legend_lines(panel) - len(entries))]
    axes.axis('off')
    axes.legend(handles=handles, loc='center left', ncol=2 if columns[1] else 1, borderaxespad=0,
                fontsize=8.5, labelspacing=0.25, handlelength=2.2)


def draw_lines(sheet, panel):
    draw_legend(sheet.axes(legend_lines(panel) * LINE_INCHES + 0.1), panel)
    axes = sheet.axes(LINES_INCHES)
    for index, series in enumerate(panel.series):
        draw_limit(axes, series, LIMIT if len(panel.series) == 1 else colour_of(index))
        draw_series(axes, series, colour_of(index), panel)
    use_figures(axes, panel)
    axes.set_ylabel(f'{panel.unit.name} ({panel.unit.symbol}, log scale)')
    axes.grid(True)
    last = axes
    if panel.has_ratio():
        sheet.skip(0.12)
        last = sheet.axes(RATIO_INCHES, sharex=axes)
        draw_ratio(last, panel)
        axes.tick_params(labelbottom=False)
    use_sizes(last, panel.sizes())
    last.set_xlabel('message size (bytes, log scale)')
    sheet.skip(AXIS_INCHES)


def bars_of(panel):
    """(series index, label, point) of every bar with a figure of ours; what is to be compared,
    the same mode in several series, stands together under one label."""
    bars = []
    for mode in panel.modes():
        label = mode
        for index, series in enumerate(panel.series):
            for point in series.points:
                if point.mode == mode:
                    bars.append((index, label, point))
                    label = ''
    return bars


def bar_legend(panel):
    """What the colours mean, where there are several and no label says it."""
    if {series.label for series in panel.series} <= set(panel.modes()) or len(panel.series) == 1:
        return []
    return [matplotlib.patches.Patch(color=colour_of(index), label=series.label)
            for index, series in enumerate(panel.series)]


def bar_rows(panel):
    return sum(1 if point.limit is None else 2 for _, _, point in bars_of(panel))


def value_text(point, unit):
    text = quantity_text(point.figure, unit)
    if point.p99 is not None:
        text = f'p50 {text}, p99 {quantity_text(point.p99, unit)}'
    if point.limit:
        text += f', ratio {figure_text(point.figure / point.limit)}'
    return text + ('' if point.is_steady else ', unsteady')


def words_of(panel, sight):
    """(where a bar ends, the words behind it), for each row of bars from the top."""
    words = []
    for _, _, point in bars_of(panel):
        words.append((max(point.figure, min(point.p99 or 0, sight)), value_text(point, panel.unit)))
        if point.limit is not None:
            words.append((point.limit, f'limit {quantity_text(point.limit, panel.unit)}: '
                                       f'{point.limit_name or "limit"}'))
    return words


def right_end(words, width_inches):
    """Of an axis on which every bar has room for its words."""
    shares = [(end, 1 - (0.15 + CHARACTER_INCHES * len(text)) / width_inches)
              for end, text in words]
    return max(end / max(share, 0.1) for end, share in shares) or 1


def draw_bar(axes, row, point, index, sight):
    axes.barh(row, point.figure, height=0.72, color=colour_of(index))
    if point.p99 is not None:
        axes.plot([point.figure, min(point.p99, sight)], [row, row], color='black', linewidth=1,
                  marker='|' if point.p99 <= sight else None, markevery=[1])
    if point.limit is not None:
        axes.barh(row + 1, point.limit, height=0.5, color='#C8C8C8', edgecolor=LIMIT, hatch='///',
                  linewidth=0.6)


def draw_bar_legend(sheet, panel):
    axes = sheet.axes(LINE_INCHES)
    axes.axis('off')
    axes.legend(handles=bar_legend(panel), loc='center left', ncol=4, borderaxespad=0,
                fontsize=8.5, handlelength=1.2)
    sheet.skip(0.1)


def draw_bars(sheet, panel):
    """Each figure and, right below it, its limit; p99 is a whisker, as far as it stays in sight."""
    if bar_legend(panel):
        draw_bar_legend(sheet, panel)
    bars = bars_of(panel)
    widest = max(len(label) for _, label, _ in bars)
    left = min(max(LEFT_INCHES, 0.3 + 0.068 * widest), WIDTH_INCHES / 3)
    axes = sheet.axes(bar_rows(panel) * BAR_INCHES, left)
    sight = 1.25 * max(max(point.figure, point.limit or 0) for _, _, point in bars)
    row = 0
    labels = []
    for index, label, point in bars:
        labels.append((row, textwrap.shorten(label, 38)))
        draw_bar(axes, row, point, index, sight)
        row += 1 if point.limit is None else 2
    words = words_of(panel, sight)
    for at, (end, text) in enumerate(words):
        axes.annotate(text, (end, at), (5, 0), fontsize=8, textcoords='offset points', va='center')
    axes.set_yticks([at for at, _ in labels], [text for _, text in labels])
    axes.tick_params(axis='y', length=0)
    axes.set_ylim(row - 0.4, -0.6)
    axes.set_xlim(0, right_end(words, WIDTH_INCHES - left - RIGHT_INCHES))
    axes.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(lambda value, _: figure_text(value, panel.unit.takes_prefix))
    axes.set_xlabel(f'{panel.unit.name} ({panel.unit.symbol})')
    axes.grid(True, axis='x')
    sheet.skip(AXIS_INCHES)


def height_of(panel):
    if not panel.has_lines():
        legend = LINE_INCHES + 0.1 if bar_legend(panel) else 0
        return legend + bar_rows(panel) * BAR_INCHES + AXIS_INCHES
    ratio = RATIO_INCHES + 0.12 if panel.has_ratio() else 0
    return legend_lines(panel) * LINE_INCHES + 0.1 + LINES_INCHES + ratio + AXIS_INCHES


def in_style(function):
    def styled(*arguments):
        with plt.rc_context(STYLE):
            return function(*arguments)
    return styled


@in_style
def figure_of(panels, heading):
    title, lines = heading
    lines = [part for line in lines for part in textwrap.wrap(line, 125)]
    header_inches = TITLE_INCHES + len(lines) * LINE_INCHES + 0.05
    sheet = Sheet(2 * MARGIN_INCHES + header_inches + sum(map(height_of, panels)))
    sheet.skip(MARGIN_INCHES)
    sheet.text(TITLE_INCHES, title, fontsize=13, fontweight='bold')
    for line in lines:
        sheet.text(LINE_INCHES, line, fontsize=8, color='#505050')
    sheet.skip(0.05)
    for panel in panels:
        (draw_lines if panel.has_lines() else draw_bars)(sheet, panel)
    return sheet.figure


@in_style
def draw(panels, heading, path):
    """The picture, in the format of the path's suffix. Throws OSError."""
    figure = figure_of(panels, heading)
    figure.savefig(path)
    plt.close(figure)
