"""GASNet-EX where it is installed: compiles and runs gasnet_moves.c. Else a note says that it is
not.

A conduit is a pkg-config package of GASNet's: smp for shared memory, and udp for tcp, as there is
no other conduit of sockets alone."""
import json
import os
import shutil
import subprocess

import machine

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "GASNet-EX"
PACKAGES = {"shm": "gasnet-smp-seq", "tcp": "gasnet-udp-seq"}


def asked(package, *what):
    said = subprocess.run(["pkg-config", *what, package], capture_output=True, text=True)
    return said.stdout.split() if said.returncode == 0 else None


class Gasnet:
    """One conduit, compiled for."""

    def __init__(self, bench, network):
        self.bench, self.is_udp = bench, network == "tcp"
        package = PACKAGES[network]
        self.program = os.path.join(bench.folder, "gasnet_moves_" + network)
        compiler = asked(package, "--variable=GASNET_CC") or ["cc"]
        bench.run([*compiler, "-O2", *asked(package, "--cflags"), f"{HERE}/gasnet_moves.c",
                   "-o", self.program, *asked(package, "--libs")])
        self.spawner = [os.path.join((asked(package, "--variable=prefix") or ["/usr"])[0],
                                     "bin/amudprun"), "-np", "2", "-spawn", "L"]

    def rows(self, *arguments):
        """Those that rank 0 prints."""
        out = self.bench.run([*(self.spawner if self.is_udp else []), self.program, *arguments],
                             GASNET_PSHM_NODES="2")
        lines = [line for line in out.splitlines() if line.startswith("{")]
        if not lines:
            raise machine.Failed(f"{NAME}: no figures: {out.strip()}")
        return json.loads(lines[-1])["rows"]


def found(bench, network):
    """A Gasnet, or None and a note."""
    package = PACKAGES[network]
    if shutil.which("pkg-config") is None or asked(package, "--exists") is None:
        bench.note(f"{NAME}: not installed (pkg-config knows no {package})")
        return None
    return Gasnet(bench, network)
