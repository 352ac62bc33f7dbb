"""Results of photon-netsim as a picture, by matplotlib."""
import textwrap

import matplotlib.patches
import matplotlib.pyplot as plt

from photon_plot import netsim
from photon_plot.drawing import (LIMIT, LINE_INCHES, MARGIN_INCHES, TITLE_INCHES,
                                 Sheet, colour_of, in_style)

BARS_INCHES = 2.4
LADDER_INCHES = 2.0
NAMES_INCHES = 0.75  # of two or three lines below a panel
GAP_INCHES = 0.25
LEFT_INCHES = 0.7
BAND = 0.8  # of a group's room that its bars take
HEADING_CHARACTERS = 125


def rate_text(gbps):
    return f'{gbps:,.6g} Gbps'


def draw_rates(sheet, rates):
    axes = sheet.axes(LINE_INCHES + 0.1, LEFT_INCHES)
    axes.axis('off')
    axes.legend(handles=[matplotlib.patches.Patch(color=colour_of(index), label=rate_text(rate))
                         for index, rate in enumerate(rates)],
                loc='center left', ncol=len(rates), borderaxespad=0, fontsize=8.5,
                handlelength=1.2)


def place_bar(group, index, count):
    """Where a bar of a group stands, and how wide it is."""
    width = BAND / count
    return group - BAND / 2 + (index + 0.5) * width, width


def draw_speed_ups(sheet, places, rates):
    """A group of bars for each network with its routing, a bar a rate: as in the paper."""
    axes = sheet.axes(BARS_INCHES, LEFT_INCHES)
    groups = netsim.groups_of(places)
    for place in places:
        value = place.speed_up()
        if value is None:
            continue
        index = rates.index(place.gbps)
        at, width = place_bar(groups.index((place.network, place.routing)), index, len(rates))
        axes.bar(at, value, width=0.92 * width, color=colour_of(index))
        axes.annotate(f'{value:.2f}', (at, value), (0, 2), textcoords='offset points', fontsize=6,
                      ha='center')
    axes.axhline(1, color=LIMIT, linewidth=1.2, linestyle=(0, (4, 2)))
    axes.set_xlim(-0.6, len(groups) - 0.4)
    axes.margins(y=0.12)
    axes.set_xticks(range(len(groups)),
                    [f'{network}\n{routing}' for network, routing in groups], fontsize=8)
    axes.set_ylabel('speed-up of rvma\nover rdma-usual')
    axes.grid(True, axis='y')
    sheet.skip(NAMES_INCHES)


def draw_times(sheet, places, rates):
    """Where nothing can be compared: when the last rank is done, a bar a rate of each card."""
    axes = sheet.axes(BARS_INCHES, LEFT_INCHES)
    groups = netsim.timed_groups_of(places)
    for place in places:
        index = rates.index(place.gbps)
        for card, picoseconds in place.times.items():
            at, width = place_bar(groups.index((place.network, place.routing, card)), index,
                                  len(rates))
            value = picoseconds / 1e6
            axes.bar(at, value, width=0.92 * width, color=colour_of(index))
            axes.annotate(f'{value:.4g}', (at, value), (0, 2), textcoords='offset points',
                          fontsize=6, ha='center')
    axes.set_xlim(-0.6, len(groups) - 0.4)
    axes.margins(y=0.12)
    axes.set_xticks(range(len(groups)), ['\n'.join(group) for group in groups], fontsize=8)
    axes.set_ylabel('last rank done, us')
    axes.grid(True, axis='y')
    sheet.skip(NAMES_INCHES)


def draw_waterfall(axes, by_rate, names):
    """Each bar reaches from the rung before to its own, the first one from nought: means over the
    places of a rate. `by_rate`: (colour's index, shares of each place)."""
    for index, shares in by_rate:
        means = netsim.mean_of(shares)
        for rung, share in enumerate(means):
            at, width = place_bar(rung, index, max(each for each, _ in by_rate) + 1)
            before = means[rung - 1] if rung else 0.0
            axes.bar(at, 100 * (share - before), bottom=100 * before, width=0.92 * width,
                     color=colour_of(index))
            if rung:
                axes.plot([at - 1 + width / 2, at + width / 2], [100 * before] * 2,
                          color=LIMIT, linewidth=0.5)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_ylim(bottom=0)
    axes.set_xticks(range(len(names)), names, fontsize=8)
    axes.set_ylabel('time in % of\nthe first, mean')
    axes.grid(True, axis='y')


def ladders_of(places, rates):
    """(names of rungs, (colour's index, shares) of each rate that has some), for both ladders."""
    protocols = [f'{rung}\n{netsim.EFFECTS.get(rung, "")}' for rung in netsim.RUNGS]
    ladders = []
    for names, shares_of in ((protocols, netsim.shares_of), (netsim.ORDER, netsim.order_shares_of)):
        by_rate = [(index, shares_of([place for place in places if place.gbps == rate]))
                   for index, rate in enumerate(rates)]
        by_rate = [(index, shares) for index, shares in by_rate if shares]
        if by_rate:
            ladders.append((names, by_rate))
    return ladders


def draw_form(sheet, form, places):
    rates = netsim.rates_of(places)
    sheet.text(TITLE_INCHES, form, fontsize=11)
    draw_rates(sheet, rates)
    ladders = ladders_of(places, rates)
    if any(place.speed_up() for place in places):
        draw_speed_ups(sheet, places, rates)
    elif not ladders:
        draw_times(sheet, places, rates)
    for names, by_rate in ladders:
        draw_waterfall(sheet.axes(LADDER_INCHES, LEFT_INCHES), by_rate, names)
        sheet.skip(NAMES_INCHES)
    sheet.skip(GAP_INCHES)


def height_of(places):
    height = TITLE_INCHES + LINE_INCHES + 0.1 + GAP_INCHES
    ladders = ladders_of(places, netsim.rates_of(places))
    if any(place.speed_up() for place in places) or not ladders:
        height += BARS_INCHES + NAMES_INCHES
    return height + len(ladders) * (LADDER_INCHES + NAMES_INCHES)


@in_style
def figure_of(results):
    forms = netsim.forms_of(netsim.places_of(results))
    title, lines = netsim.heading(results)
    lines = [part for line in lines for part in textwrap.wrap(line, HEADING_CHARACTERS)]
    header_inches = TITLE_INCHES + len(lines) * LINE_INCHES + 0.05
    sheet = Sheet(2 * MARGIN_INCHES + header_inches + sum(height_of(each) for _, each in forms))
    sheet.skip(MARGIN_INCHES)
    sheet.text(TITLE_INCHES, title, fontsize=13, fontweight='bold')
    for line in lines:
        sheet.text(LINE_INCHES, line, fontsize=8, color='#505050')
    sheet.skip(0.05)
    for form, places in forms:
        draw_form(sheet, form, places)
    return sheet.figure


@in_style
def draw(results, path):
    """The picture, in the format of the path's suffix. Throws OSError."""
    figure = figure_of(results)
    figure.savefig(path)
    plt.close(figure)
