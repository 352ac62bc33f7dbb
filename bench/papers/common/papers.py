"""The papers, in the order of the engine and what was built on it; each has a folder beside this
one, whose paper.py gives a plan.Paper named PAPER."""
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDERS = {"pwc": "pwc", "nbc": "nbc", "am": "am_mpi", "zero-copy": "zero_copy", "rvma": "rvma"}
NAMES = tuple(FOLDERS)


def load(name):
    """Its plan.Paper. Modules beside its paper.py are found by names of their own."""
    folder = os.path.join(os.path.dirname(HERE), FOLDERS[name])
    if folder not in sys.path:
        sys.path.append(folder)
    spec = importlib.util.spec_from_file_location(f"paper_{FOLDERS[name]}",
                                                  os.path.join(folder, "paper.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PAPER
