"""The MPIs that are installed, each in three models, and how a program of theirs is run.

    plain   as it is
    async   MPICH_ASYNC_PROGRESS=1: MPICH's own thread; Open MPI has none, and says so
    ours    libphoton_pmpi-<flavour>.so before the program (LD_PRELOAD), where it has been built

Ranks are bound to cores of their own, but with a thread of MPICH's, which would share the core of
its rank; where ranks outnumber the cores they are not bound, and are told to yield. Between two
hosts, which are namespaces of this machine, each launcher would bind them to the same core: there
they are not bound either.
"""
import json
import os
import shutil
import signal
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TWO_HOSTS = os.path.join(ROOT, "bench/papers/common/two_hosts")
ADDRESSES = ("10.77.0.1", "10.77.0.2")
CABLE = "v0"
NEAR_NS, SWITCH_NS, STEADY = 130, 900, 1.2
MODELS = ("plain", "async", "ours")
FLAVOURS = ("mpich", "openmpi")
SOURCES_OF_BFS = [f"{HERE}/bfs/{name}.c" for name in ("kronecker", "search", "check", "roots")]


class NoFigure(Exception):
    """There is none; the text says why."""


def last_line(text):
    return (text.strip().splitlines() or ["it said nothing"])[-1].strip()


def words_of_failure(err, out):
    """What the program said itself, if it did: launchers add lines of their own behind that."""
    of_launchers = ("-", "=", "Abort(", "MPI_ABORT", "with ", "NOTE:", "You may", "exactly when")
    own = [line for line in (err + "\n" + out).splitlines()
           if line.strip() and not line.startswith(of_launchers)]
    return own[0].strip() if own else last_line(err or out)


def run(arguments, limit_s, called=None, **options):
    """What it printed; one that runs too long is killed with all of its group."""
    called = called or arguments[0]
    started = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True, **options)
    try:
        out, err = started.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        raise NoFigure(f"{called} ran longer than {limit_s} s") from None
    finally:
        if started.returncode is None:  # not reaped: the group is its own
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()
        started.stdout.close()
        started.stderr.close()
    if started.returncode != 0:
        raise NoFigure(f"{called} ends with {started.returncode}: {words_of_failure(err, out)}")
    return out


def state_of(before_ns, after_ns):
    """None where the cores changed their state meanwhile, or nobody can tell."""
    low, high = sorted((before_ns, after_ns))
    if low <= 0 or high > STEADY * low:
        return None
    return "near" if high < NEAR_NS else "far" if high < SWITCH_NS else "sharing a core"


def figures_of_one_state(found):
    """Of {model: [(state, figures of a run)]}: the state that all but `async` have seen, most often
    if there are more, and the best run of each model in it; without such a state the best of all.
    The threads of `async` have no core of their own, and no state."""
    judged = [model for model in found if model != "async"]
    common = set.intersection(*({state for state, _ in found[model]} for model in judged)) - {None}
    counts = {state: sum(each == state for runs in found.values() for each, _ in runs)
              for state in common}
    state = max(sorted(counts), key=counts.get) if counts else None
    best = {model: min((figure for each, figure in runs
                        if model == "async" or state in (None, each)), key=lambda each: each["us"])
            for model, runs in found.items()}
    return state or "UNSTEADY", best


class Mpi:
    """One that is installed, or is not (`missing` says what)."""

    def __init__(self, flavour, lib_dir, prefix=None):
        launcher = "mpiexec" if flavour == "mpich" or prefix else "mpirun"
        names = ((f"{prefix}/bin/mpicc", f"{prefix}/bin/{launcher}") if prefix else
                 (f"mpicc.{flavour}", f"{launcher}.{flavour}"))
        self.flavour = flavour
        self.name = os.path.basename(prefix.rstrip("/")) if prefix else flavour
        self.compiler, self.launcher = names
        self.missing = [name for name in names if shutil.which(name) is None]
        self.library = os.path.join(lib_dir, f"libphoton_pmpi-{flavour}.so")
        self.is_spread = False  # rank 0 is on the first of two hosts, all others on the second
        self.programs = {}

    def build(self, folder, program, sources):
        path = os.path.join(tempfile.mkdtemp(dir=folder), program)
        run([self.compiler, "-O2", "-std=gnu11", "-Wall", "-Wextra", f"-I{HERE}"] + sources
            + ["-o", path, "-lm"], 120)
        self.programs[program] = path

    def version(self):
        said = run([self.launcher, "--version"], 30)
        lines = [" ".join(line.split()) for line in said.splitlines() if line.strip()]
        return next((line for line in lines if line.startswith("Version")), lines[0])

    def why_not(self, model):
        """None if the model can be run."""
        if model == "async" and self.flavour != "mpich":
            return "Open MPI has no thread of progress to ask for"
        if model == "ours" and not os.path.exists(self.library):
            return f"{self.library} has not been built"
        return None

    def environment(self, model, is_crowded):
        added = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        if is_crowded:
            added.update(OMPI_MCA_mpi_yield_when_idle="1", MPIR_CVAR_POLLS_BEFORE_YIELD="1")
        if self.is_spread:  # both hosts are of one kernel, of which UCX takes shared memory
            added["UCX_TLS"] = "self,tcp"
        if model == "async":
            added["MPICH_ASYNC_PROGRESS"] = "1"
        return dict(os.environ, **added)

    def spread(self, ranks):
        """What tells the launcher of the hosts."""
        hosts = ",".join(ADDRESSES[:1] + ADDRESSES[1:] * (ranks - 1))
        if self.flavour == "mpich":
            return ["-launcher", "ssh", "-launcher-exec", f"{TWO_HOSTS}_at", "-hosts",
                    hosts]
        line = ["--mca", "plm_rsh_agent", f"{TWO_HOSTS}_at", "--map-by", "seq", "--host", hosts]
        for part in ("oob", "btl"):
            line += ["--mca", f"{part}_tcp_if_include", CABLE]
        return line + ["--mca", "pml", "ob1", "--mca", "btl", "self,vader,tcp", "--mca", "osc",
                       "^ucx"]  # Open MPI 4.1 takes UCX for windows, and fails to make any

    def command(self, model, ranks, cores):
        is_bound = ranks <= len(cores) and model != "async" and not self.is_spread
        line = [TWO_HOSTS] if self.is_spread else []
        line += ["taskset", "-c", ",".join(map(str, cores)), self.launcher]
        line += self.spread(ranks) if self.is_spread else []
        if self.flavour == "mpich":
            line += ["-bind-to", "core" if is_bound else "none"]
        else:
            line += ["--oversubscribe", "--bind-to", "core" if is_bound else "none"]
        line += ["-n", str(ranks)]
        if model == "ours":
            before = [self.library] + [os.environ[name] for name in ("LD_PRELOAD",)
                                       if os.environ.get(name)]
            line += ["env", "LD_PRELOAD=" + ":".join(before)]
        return line

    def measure(self, model, job, cores, limit_s, **added):
        """The line of JSON that rank 0 prints; `job`: program, ranks, its arguments; `added` to the
        environment."""
        program, ranks, arguments = job
        line = self.command(model, ranks, cores) + [self.programs[program]] + arguments
        said = run(line, limit_s, called=program,
                   env=dict(self.environment(model, ranks > len(cores)), **added))
        lines = [line for line in said.splitlines() if line.startswith("{")]
        if not lines:
            raise NoFigure(f"{program} printed no figures: {last_line(said)}")
        return json.loads(lines[-1])


def two_cores():
    """Those of a machine with more: no two threads of one core, where the kernel tells."""
    cores = sorted(os.sched_getaffinity(0))
    path = f"/sys/devices/system/cpu/cpu{cores[0]}/topology/thread_siblings_list"
    siblings = set()
    if os.path.exists(path):
        for part in open(path).read().strip().split(","):
            low, _, high = part.partition("-")
            siblings.update(range(int(low), int(high or low) + 1))
    return cores[:1] + ([core for core in cores[1:] if core not in siblings] or cores[1:])[:1]


def add_options(parser):
    parser.add_argument("lib_dir", nargs="?", default=os.path.join(ROOT, "build/release/lib"),
                        help="folder of libphoton_pmpi-<flavour>.so")
    parser.add_argument("--mpi", choices=FLAVOURS, help="only this one")
    parser.add_argument("--prefix", action="append", default=[], metavar="FLAVOUR=FOLDER",
                        help="one more MPI, by its FOLDER/bin/mpicc: mpich=/opt/mpich5")
    parser.add_argument("--models", default=",".join(MODELS), help="some of plain,async,ours")
    parser.add_argument("--turns", type=int, default=3, help="all models, so many times")
    parser.add_argument("--tiny", action="store_true", help="a moment of everything: for tests")
    parser.add_argument("--json", help="also write the rows to this file")


def check_options(parser, options):
    options.models = options.models.split(",")
    for model in options.models:
        if model not in MODELS:
            parser.error(f"--models: there is no '{model}'; some of " + ",".join(MODELS))
    if options.turns < 1:
        parser.error("--turns wants at least 1")
    for each in options.prefix:
        flavour, _, folder = each.partition("=")
        if flavour not in FLAVOURS or not os.access(f"{folder}/bin/mpicc", os.X_OK):
            parser.error(f"--prefix: '{each}' is not FLAVOUR=FOLDER with a FOLDER/bin/mpicc")
    if options.tiny:
        options.turns = 1


def present(options):
    """Those that are here; says what is run, and what is left out."""
    mpis = [Mpi(flavour, options.lib_dir) for flavour in FLAVOURS
            if options.mpi in (None, flavour)]
    mpis += [Mpi(each.split("=", 1)[0], options.lib_dir, each.split("=", 1)[1])
             for each in options.prefix]
    cores = sorted(os.sched_getaffinity(0))
    load = " ".join(f"{each:.2f}" for each in os.getloadavg())
    print(f"# {len(cores)} cores, {os.uname().machine}, Linux {os.uname().release}; load: {load}; "
          f"turns: {options.turns}")
    for mpi in mpis:
        if mpi.missing:
            print(f"# {mpi.name}: SKIPPED: {' and '.join(mpi.missing)}: not installed")
            continue
        print(f"# {mpi.name}: {mpi.version()}")
        for model in options.models:
            if mpi.why_not(model):
                print(f"# {mpi.name}, {model}: left out: {mpi.why_not(model)}")
    return [mpi for mpi in mpis if not mpi.missing]


def take_turns(mpi, options, measure, is_crowded):
    """{model: [(state, figures)]} of all turns, and what failed, in words. Two spinning threads for
    each rank, and more ranks than cores, take seconds even for something tiny: that is left out."""
    found, troubles = {}, []
    models = [model for model in options.models if mpi.why_not(model) is None
              and not (model == "async" and options.tiny and is_crowded)]
    for _ in range(options.turns):
        for model in models:
            try:
                figures = measure(mpi, model)
                state = state_of(*figures.get("ping_ns", (0, 0)))
                found.setdefault(model, []).append((state, figures))
            except NoFigure as why:
                troubles.append(f"{mpi.name}, {model}: {why}")
        models = [model for model in models if model in found]
    return found, troubles


def end(options, rows, troubles):
    """The exit status."""
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump(rows, out, indent=2)
    for trouble in troubles:
        print(f"FAILED: {trouble}", flush=True)
    return 1 if troubles else 0
