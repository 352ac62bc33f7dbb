#!/usr/bin/env python3
"""The include check of cmake/PhotonLayers.cmake, on trees with one bad include each."""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
CMAKE = sys.argv.pop(1) if len(sys.argv) > 1 else 'cmake'


def check(files):
    """(accepted, output) of the check on a tree with these files."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / 'cmake', Path(folder, 'cmake'))
        for part in ('src', 'netsim', 'task', 'converse', 'interop/mpi'):
            Path(folder, part).mkdir(parents=True)
            shutil.copy(ROOT / part / 'layers.cmake', Path(folder, part))
        for name, text in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        script = Path(folder, 'cmake/CheckLayers.cmake')
        done = subprocess.run([CMAKE, f'-DPHOTON_SOURCE_ROOT={folder}', '-P', script],
                              capture_output=True, text=True, check=False)
        return done.returncode == 0, ' '.join(done.stderr.split())


class Layers(unittest.TestCase):
    def assert_accepted(self, file, include):
        accepted, output = check({file: f'#include {include}\n'})
        self.assertTrue(accepted, output)

    def assert_refused(self, file, include, why):
        accepted, output = check({file: f'// one\n\n#include {include}\n'})
        self.assertFalse(accepted, f'{file} may include {include}')
        self.assertIn(f'{file}:3:', output)
        self.assertIn(why, output)

    def test_this_tree_is_clean(self):
        script = ROOT / 'cmake/CheckLayers.cmake'
        subprocess.run([CMAKE, f'-DPHOTON_SOURCE_ROOT={ROOT}', '-P', script], check=True)

    def test_downward_and_own_includes_are_accepted(self):
        self.assert_accepted('src/sync/a.hpp', '"base/result.hpp"')
        self.assert_accepted('src/sync/a.hpp', '"sync/policy.hpp"')
        self.assert_accepted('src/transport/shm/a.cpp', '"transport/transport.hpp"')
        self.assert_accepted('src/api/a.cpp', '"transport/sim/sim.hpp"')
        self.assert_accepted('src/base/a.cpp', '<photon/types.h>')

    def test_upward_includes_are_refused(self):
        self.assert_refused('src/base/a.hpp', '"sync/policy.hpp"', 'layer base may not')
        self.assert_refused('src/wire/a.cpp', '"engine/parts/peer.hpp"', 'layer wire may not')

    def test_angle_brackets_do_not_help(self):
        self.assert_refused('src/base/a.hpp', '<sync/policy.hpp>', 'layer base may not')

    def test_siblings_are_refused(self):
        self.assert_refused('src/wire/a.hpp', '"sync/policy.hpp"', 'layer wire may not')
        self.assert_refused('src/transport/shm/a.cpp', '"transport/sim/clock.hpp"',
                            'layer transport/shm may not include layer transport/sim')
        self.assert_refused('src/transport/sim/a.cpp', '"transport/shm/arena.hpp"',
                            'layer transport/sim may not include layer transport/shm')

    def test_the_engine_sees_no_backend(self):
        self.assert_refused('src/engine/a.cpp', '"transport/shm/arena.hpp"', 'layer engine may not')

    def test_tasks_have_the_atomics_alone(self):
        self.assert_accepted('task/queue/a.cpp', '"task/pool/layout.hpp"')
        self.assert_accepted('task/queue/a.cpp', '"sync/mpsc_queue.hpp"')
        self.assert_refused('task/pool/a.cpp', '"task/queue/inbox.hpp"', 'layer task/pool may not')
        self.assert_refused('task/pool/a.cpp', '"base/result.hpp"', 'layer task/pool may not')

    def test_converse_has_installed_headers_alone(self):
        self.assert_accepted('converse/run/a.cpp', '"converse/base/pe.hpp"')
        self.assert_refused('converse/base/a.cpp', '"converse/run/init.hpp"',
                            'layer converse/base may not')
        self.assert_refused('converse/base/a.cpp', '"task/pool/layout.hpp"',
                            'layer converse/base may not')

    def test_one_sided_mpi_has_the_atomics_alone(self):
        self.assert_accepted('interop/mpi/lock/a.hpp', '"sync/policy.hpp"')
        self.assert_refused('interop/mpi/lock/a.hpp', '"base/result.hpp"',
                            'layer interop/mpi/lock may not')

    def test_the_network_simulator_is_a_library_of_its_own(self):
        self.assert_accepted('netsim/net/a.cpp', '"netsim/queue/event.hpp"')
        self.assert_accepted('netsim/run/a.cpp', '"netsim/nic/port.hpp"')
        self.assert_refused('netsim/net/a.cpp', '"netsim/nic/port.hpp"', 'layer netsim/net may not')
        self.assert_refused('netsim/nic/a.cpp', '"netsim/net/part.hpp"', 'layer netsim/nic may not')
        self.assert_refused('netsim/motif/a.cpp', '"netsim/nic/port.hpp"', 'netsim/motif may not')
        self.assert_refused('netsim/run/a.cpp', '"base/result.hpp"', 'layer netsim/run may not')
        self.assert_refused('src/api/a.cpp', '"netsim/run/table.hpp"', 'layer api may not')

    def test_paths_with_dots_are_refused(self):
        self.assert_refused('src/base/a.cpp', '"../sync/policy.hpp"', 'name it from src/ on')

    def test_programs_see_installed_headers_only(self):
        for folder in ('tools', 'examples', 'bench', 'interop/reconverse'):
            self.assert_accepted(f'{folder}/a/a.cpp', '<photon/photon.h>')
            self.assert_refused(f'{folder}/a/a.cpp', '"base/result.hpp"', 'installed headers only')

    def test_photonrun_sees_besides_the_layer_that_it_links(self):
        self.assert_accepted('tools/photonrun/a.cpp', '"system/random.hpp"')
        self.assert_refused('tools/photonrun/a.cpp', '"base/result.hpp"', 'installed headers only')
        for folder in ('tools/photon-perf', 'tools/photonrun2', 'examples/a'):
            self.assert_refused(f'{folder}/a.cpp', '"system/random.hpp"', 'installed headers only')
        self.assert_refused('src/system/a.cpp', '"base/result.hpp"', 'layer system may not')


if __name__ == '__main__':
    unittest.main()
