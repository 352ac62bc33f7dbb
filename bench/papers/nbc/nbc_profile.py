"""Where the time of a small allreduce goes, by a profile: samples of functions of the library, by
`perf`. A function belongs to the first group that has a word of its name; the table of groups is
here, so that a reader may judge it.

The paper names NBC_Test and message matching. What stands for them: *testing*, all that looks
whether something has come and waits for it, and *matching*, all that finds the operation to which
belongs what has come.
"""
import re
import shutil
import tempfile

import machine
import nbc_measure

GROUPS = (
    ("matching", ("coll::digest_of", "Collectives::dispatch", "Collectives::on_message",
                  "Channels::", "EarlyPool::", "Uncompared::", "Team::under_way", "Team::find",
                  "Team::call_of", "Runner::early_of", "Runner::land", "Runner::check",
                  "Services::take_lines", "Services::take_id", "Services::take_body",
                  "classic::Collectives::find", "classic::Collectives::take", "take_collective",
                  "PwcProvider::push_words", "PwcProvider::Chunk")),
    ("testing", ("ph_wait", "ph_test", "ph_probe", "ph_progress", "photon_probe_completion",
                 "Engine::wait", "Engine::progress", "Engine::receive", "Engine::work_due",
                 "Engine::quick_turn", "Engine::take_", "Engine::test", "Engine::probe",
                 "Engine::look", "Engine::check_query", "Engine::serve_asked", "probe_",
                 "Peer::idle", "process_busy", "Services::turn", "Services::run", "ReplyBackoff",
                 "Collectives::look", "Collectives::turn", "Collectives::run", "Collectives::ran",
                 "Collectives::collect", "Runner::advance", "read_by", "block_of", "Lines::use",
                 "Lines::settle", "Lines::has_read", "Lines::tell", "Collectives::step",
                 "Collectives::progress", "Providing::", "PwcProvider::advance",
                 "PwcProvider::progress", "PwcProvider::pump", "poll", "clock_gettime")),
    ("beginning", ("make_plan", "schedule::", "Choices", "Collectives::begin", "Runner::begin",
                   "Runner::make", "plan_for", "ph_coll_", "contact", "new_request", "RequestPool",
                   "photon_collective", "prepare", "place_all", "may_begin", "PwcProvider::")),
    ("sending", ("Runner::send", "Engine::send", "Engine::put", "push_out", "Post::", "notify",
                 "check_target")),
    ("ending", ("Runner::free", "Runner::settle", "::complete", "::release", "::promise",
                "hand_over", "maybe_free", "::ended", "wake_rank", "wants_looks",
                "Collectives::end")),
    ("moving data", ("fold", "memmove", "memcpy", "memset")),
)
WAYS = {"shared lines": "on", "messages": "off"}  # series: the setting coll_lines
PAPERS_WAY = "the paper's way"
HERTZ = 5000


def is_ours(symbol, dso):
    """Of the library, with what it calls; not of the measuring program, its meetings, the start."""
    return dso.startswith(("libphoton", "[vdso]")) or "mem" in symbol


def group_of(symbol):
    return next((group for group, words in GROUPS if any(word in symbol for word in words)),
                "other")


def shares_of(report):
    """{group: percent of the library's samples} of lines "percent <tab> library <tab> symbol"."""
    shares = dict.fromkeys([name for name, _ in GROUPS] + ["other"], 0.0)
    for line in report.splitlines():
        found = re.match(r"\s*([0-9.]+)%\s*\t\s*(\S+)\s*\t\s*(?:\[.\] )?(.*)", line)
        if found and is_ours(found[3], found[2]):
            shares[group_of(found[3])] += float(found[1])
    whole = sum(shares.values())
    if whole == 0:
        raise machine.Failed("perf report names no function of the library")
    return {group: 100 * share / whole for group, share in shares.items()}


def why_no_perf(bench):
    """None if it can be used."""
    if shutil.which("perf") is None:
        return "perf: not installed (Debian has it in linux-perf)"
    try:
        bench.run(["perf", "stat", "-e", "cpu-clock", "true"], 60)
    except machine.Failed as why:
        return f"perf cannot record here: {why}"
    return None


def sampled(bench, command, **added):
    with tempfile.NamedTemporaryFile(suffix=".perf", dir=bench.folder) as out:
        bench.run(["perf", "record", "-e", "cpu-clock", "-F", HERTZ, "-o", out.name, "--",
                   *command], **added)
        return bench.run(["perf", "report", "-i", out.name, "--stdio", "-F", "overhead,dso,symbol",
                          "-t", "\t"])


def command_of(bench, series, board):
    start = [f"{bench.bin}/photonrun", "-n", "2"]
    if series == PAPERS_WAY:
        return start + [f"{bench.build}/bench/papers/nbc_classic", board, "pwc",
                        str(nbc_measure.SMALL_CLASSIC), bench.pick("4000", "20000", "60000")]
    return start + [f"{bench.bin}/photon-perf", "coll", "--sizes", str(nbc_measure.SMALL), "--call",
                    "begin", "--buffers", "same", "--no-limit", "--iterations",
                    bench.pick("10000", "100000", "1000000")]


def profile(bench):
    trouble = why_no_perf(bench)
    if trouble:
        bench.note(trouble)
        return []
    rows = []
    ways = [*WAYS, PAPERS_WAY]
    for series in bench.pick(ways[:1] + ways[2:], ways, ways):
        with nbc_measure.board_of_ranks(bench) as board:
            report = sampled(bench, command_of(bench, series, board.name),
                             PHOTON_COLL_LINES=WAYS.get(series, "on"))
        rows += [{"panel": "profile", "series": series, "x": group, "value": percent}
                 for group, percent in shares_of(report).items()]
    return rows
