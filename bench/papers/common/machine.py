"""Runs programs for the experiments of papers, and says on which machine and with what."""
import glob
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.append(os.path.join(ROOT, "bench/mpi_common"))
import mpi_models  # noqa: E402: it lies in mpi_common

GASNETS = ("gasnet-smp-seq", "gasnet-udp-seq")
GRACE_S = 10  # to end after SIGTERM
FLAVOURS = {"mpich": "MPICH", "openmpi": "Open MPI"}


class Failed(Exception):
    """A program gave no figure; the text says why."""


class OutOfTime(Failed):
    """A program ran too long and was ended."""


def end_group(started):
    """Of a program that was not waited for. It may put away first what it has made (namespaces)."""
    if started.returncode is not None:  # reaped: the group is somebody else's by now
        return
    os.killpg(started.pid, signal.SIGTERM)
    try:
        started.communicate(timeout=GRACE_S)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()


class Bench:
    """What a step gets. `notes` go to the page: what is not installed, and why a row is missing."""

    def __init__(self, build_dir, mode, folder):
        self.build, self.mode, self.folder = os.path.abspath(build_dir), mode, folder
        self.bin = os.path.join(self.build, "bin")
        self.lib = os.path.join(self.build, "lib")
        self.cores = sorted(os.sched_getaffinity(0))
        self.notes = []

    def pick(self, tiny, quick, whole):
        """One of three, by the mode."""
        return {"tiny": tiny, "quick": quick, "whole": whole}[self.mode]

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def run(self, arguments, limit_s=300, **added):
        """What the program printed. `added`: to its environment. One that runs too long is ended
        with all of its group; one that fails raises Failed."""
        arguments = [str(each) for each in arguments]
        try:
            started = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, start_new_session=True,
                                       cwd=self.folder, env=dict(os.environ, **added))
        except OSError as why:
            raise Failed(f"{arguments[0]}: {why.strerror}") from None
        try:
            out, err = started.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            raise OutOfTime(f"{' '.join(arguments)} ran longer than {limit_s} s") from None
        finally:
            end_group(started)
            started.stdout.close()
            started.stderr.close()
        if started.returncode != 0:
            raise Failed(f"{' '.join(arguments)} ends with {started.returncode}: "
                         + mpi_models.words_of_failure(err, out))
        return out

    def photonrun(self, ranks, program, *arguments, limit_s=300, **added):
        """A program of the build folder, by its path from there."""
        return self.run([f"{self.bin}/photonrun", "-n", ranks, os.path.join(self.build, program),
                         *arguments], limit_s, **added)

    def perf(self, question, *arguments, ranks=2, limit_s=300, **added):
        """The rows of a question of photon-perf."""
        with tempfile.NamedTemporaryFile(suffix=".json", dir=self.folder) as out:
            self.photonrun(ranks, "bin/photon-perf", question, *arguments, "--json", out.name,
                           limit_s=limit_s, **added)
            return json.load(open(out.name, encoding="utf-8"))

    def mpis(self):
        """Those that are installed; the others are noted."""
        found = []
        for flavour, name in FLAVOURS.items():
            mpi = mpi_models.Mpi(flavour, self.lib)
            if mpi.missing:
                self.note(f"{name}: not installed ({' and '.join(mpi.missing)})")
            else:
                found.append(mpi)
        return found

    def compile_for(self, mpi, program, sources):
        """With that MPI's compiler; after it `mpi_json` runs it."""
        try:
            mpi.build(self.folder, program, sources)
        except mpi_models.NoFigure as why:
            raise Failed(str(why)) from None

    def mpi_json(self, mpi, program, ranks, *arguments, model="plain", limit_s=300, **added):
        """The line of JSON that rank 0 of that program prints."""
        try:
            return mpi.measure(model, (program, ranks, [str(each) for each in arguments]),
                               self.cores, limit_s, **added)
        except mpi_models.NoFigure as why:
            raise Failed(f"{mpi.name}: {why}") from None


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as text:
        for line in text:
            if line.startswith(("model name", "Model", "Hardware")):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def versions(build_dir):
    """[[what, its version]], also of what is not installed."""
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as text:
        photon = re.search(r"project\(photon VERSION ([0-9.]+)", text.read())[1]
    found = [["Photon", photon]]
    for flavour, name in FLAVOURS.items():
        mpi = mpi_models.Mpi(flavour, os.path.join(build_dir, "lib"))
        said = "not installed" if mpi.missing else mpi.version().split()[-1]
        found.append([name, said])
    has_gasnet = any(subprocess.run(["pkg-config", "--exists", each], check=False).returncode == 0
                     for each in GASNETS) if shutil.which("pkg-config") else False
    found.append(["GASNet-EX", "installed" if has_gasnet else "not installed"])
    found.append(["perf", "installed" if shutil.which("perf") else "not installed"])
    return found


def code_of(build_dir):
    """What tells one build from another, and one state of the experiments: a digest."""
    digest = hashlib.sha256()
    libraries = sorted(glob.glob(os.path.join(build_dir, "lib", "*.so")))
    scripts = sorted(glob.glob(os.path.join(ROOT, "bench/papers/*/*.py")))
    programs = sorted(glob.glob(os.path.join(build_dir, "bench/papers/*"))) + [
        os.path.join(build_dir, "bin", name) for name in ("photon-perf", "photon-netsim")]
    for path in libraries + scripts + programs:
        if os.path.isfile(path):
            with open(path, "rb") as file:
                digest.update(file.read())
    return digest.hexdigest()[:16]


def describe(build_dir):
    """The machine and what is measured on it; two runs of the same description may be joined."""
    return {"processor": processor(), "cores": len(os.sched_getaffinity(0)),
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
            "versions": versions(build_dir), "code": code_of(build_dir)}
