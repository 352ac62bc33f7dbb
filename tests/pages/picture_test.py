"""The picture of docs/architecture.md is what its source makes, and scripts/draw --check sees where
it is not. Exit status 77: no graphviz here, so only the picture's mark was compared.
"""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HAS_GRAPHVIZ = shutil.which('dot') is not None
FINE = 0 if HAS_GRAPHVIZ else 77


def draw(root, *arguments):
    done = subprocess.run([sys.executable, '-B', root / 'scripts/draw', *arguments],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


class Picture(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.copy = Path(folder.name)
        for name in ('scripts/draw', 'docs/architecture.dot', 'docs/architecture.svg'):
            (self.copy / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, self.copy / name)

    def replace(self, name, old, new):
        path = self.copy / name
        text = path.read_text(encoding='utf-8')
        self.assertIn(old, text)
        path.write_text(text.replace(old, new), encoding='utf-8')

    def test_the_picture_is_what_its_source_makes(self):
        status, output = draw(ROOT, '--check')
        self.assertEqual(status, FINE, output)

    def test_a_source_that_was_changed_is_seen_without_graphviz(self):
        self.replace('docs/architecture.dot', 'src/sync/: every atomic', 'src/sync/: all atomics')
        status, output = draw(self.copy, '--check')
        self.assertEqual(status, 1, output)
        self.assertIn('run scripts/draw', output)

    @unittest.skipUnless(HAS_GRAPHVIZ, 'no graphviz')
    def test_a_picture_that_was_changed_by_hand_is_seen(self):
        self.replace('docs/architecture.svg', 'src/sync/: every atomic', 'src/sync/: all atomics')
        status, output = draw(self.copy, '--check')
        self.assertEqual(status, 1, output)

    @unittest.skipUnless(HAS_GRAPHVIZ, 'no graphviz')
    def test_what_is_drawn_anew_is_of_its_source(self):
        self.replace('docs/architecture.dot', 'src/sync/: every atomic', 'src/sync/: all atomics')
        status, output = draw(self.copy)
        self.assertEqual(status, 0, output)
        self.assertIn('all atomics', (self.copy / 'docs/architecture.svg').read_text())
        status, output = draw(self.copy, '--check')
        self.assertEqual(status, 0, output)


if __name__ == '__main__':
    result = unittest.main(exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(FINE)
