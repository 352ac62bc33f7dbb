"""The programs on the pages are what a compiler takes: README.md and docs/*.md, each block marked
c or cpp, by itself and without a warning. Blocks of MPI need its compiler; without one they are
counted as skipped.

  blocks_test.py <C compiler> <C++ compiler>
"""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCED = re.compile(r"^```(c|cpp)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A block without includes stands among declarations that its page has shown before.
SHOWN_BEFORE = {
    "c": "#include <photon/photon.h>\n",
    "cpp": "#include <photon/photon.hpp>\n#include <vector>\n",
}
FLAGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-fsyntax-only"]


def blocks():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        for found in FENCED.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            yield f"{page.relative_to(ROOT)}:{line}", found[1], found[2]


def needs_mpi(code):
    return "#include <mpi.h>" in code


def folders_of_mpi():
    """Where its headers are, as its own compiler says; None where there is none."""
    if not shutil.which("mpicc"):
        return None
    shown = subprocess.run(["mpicc", "-show"], text=True, capture_output=True, check=True).stdout
    return [flag for flag in shlex.split(shown) if flag.startswith("-I")]


def failure_of(language, code, compilers):
    source = code if "#include" in code else SHOWN_BEFORE[language] + code
    standard = "c11" if language == "c" else "c++20"
    command = [compilers[language], "-x", language if language == "c" else "c++",
               f"-std={standard}", *FLAGS, f"-I{ROOT}/include", f"-I{ROOT}/include/compat",
               f"-I{ROOT}/src", *(folders_of_mpi() if needs_mpi(code) else []), "-"]
    result = subprocess.run(command, input=source, text=True, capture_output=True, check=False)
    return result.stderr if result.returncode != 0 else None


def main():
    compilers = dict(zip(("c", "cpp"), sys.argv[1:3], strict=True))
    seen = failed = skipped = 0
    for where, language, code in blocks():
        if needs_mpi(code) and folders_of_mpi() is None:
            skipped += 1
            continue
        seen += 1
        if failure := failure_of(language, code, compilers):
            failed += 1
            print(f"{where}: does not compile\n{failure}")
    print(f"{seen} blocks, {failed} failed; {skipped} skipped for want of mpicc")
    return 1 if failed or seen == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
