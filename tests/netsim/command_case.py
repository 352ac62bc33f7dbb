"""What the tests of photon-netsim as a command share: a small case, and how it is run."""
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

NETWORK = {'topology': '"dragonfly"', 'shape': '"2:4:1:4"', 'routing': '"ugal"'}
MOTIF = {'name': '"alltoall"', 'ranks': '"16"', 'bytes': '3000'}


def toml(**sections):
    """A file of settings: the small case above, with changes by section."""
    all_ = {'network': dict(NETWORK), 'motif': dict(MOTIF)}
    for name, keys in sections.items():
        all_.setdefault(name, {}).update(keys)
    return '\n'.join(f'[{name}]\n' + ''.join(f'{key} = {value}\n' for key, value in keys.items())
                     for name, keys in all_.items())


def plain(text):
    """A result without what is of this run of the program."""
    result = json.loads(text)
    del result['this_run']
    return result


class Case(unittest.TestCase):
    COMMAND = ''  # the path of photon-netsim

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.file = self.path / 'a.toml'

    def write(self, text):
        self.file.write_text(text)
        return self.file

    def start(self, *arguments):
        return subprocess.Popen([self.COMMAND, *map(str, arguments)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def run_it(self, *arguments):
        process = self.start(*arguments)
        out, error = process.communicate(timeout=100)
        return process.returncode, out, error

    def results_in(self, folder):
        return {each.name: plain(each.read_text()) for each in folder.glob('*.json')}
