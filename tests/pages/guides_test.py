"""The guides for who changes the library say what is so. src/README.md has a row for each layer,
with what it may include. The files that CONTRIBUTING.md, src/README.md and docs/glossary.md name
exist, and so do the targets of links on all pages. The glossary is sorted. And each of these
comparisons sees a fault.
"""
import re
import sys
import unittest
from pathlib import Path

import architecture_test as architecture

ROOT = architecture.ROOT
GUIDES = ('CONTRIBUTING.md', 'src/README.md', 'docs/glossary.md')
PAGES = sorted([*ROOT.glob('*.md'), *ROOT.glob('docs/**/*.md'), ROOT / 'src/README.md'])
FOLDERS = r'include|src|compat|tools|examples|bench|netsim|simtest|tests|cmake|scripts|docs|\.ci'
LINK = re.compile(r'\]\(([^()\s]+)\)')
FENCED = re.compile(r'^```.*?^```$', re.MULTILINE | re.DOTALL)


def text_of(page):
    return (ROOT / page).read_text(encoding='utf-8')


def wrong_layers(page, layers):
    """Layers whose row is missing, says something else, or stands for none."""
    uses = {name: set(rest.partition('USES')[2].split())
            for name, rest in re.findall(r'photon_layer\(([\w/]+)([^)]*)\)', layers)
            if 'OUTSIDE' not in rest}
    table = page.partition('## The folders beside')[0]
    said = {cells[0].strip('`'): set(architecture.QUOTED.findall(cells[2]))
            for cells in architecture.rows(table, ['folder', 'what is in it'])}
    return sorted(name for name in said | uses if said.get(name) != uses.get(name))


def wrong_paths(page):
    """Files and folders that stand in backquotes and are missing, but for those with a <name>."""
    names = set(re.findall(rf'`((?:{FOLDERS})/[^`<>\s*]*)`', page))
    return sorted(name for name in names if not (ROOT / name).exists())


def wrong_beginnings(page):
    """Files of the last column that are missing in src/."""
    table = page.partition('## The folders beside')[0]
    return sorted(name for cells in architecture.rows(table, ['folder', 'what is in it'])
                  for name in architecture.QUOTED.findall(cells[3])
                  if not (ROOT / 'src' / name).is_file())


def anchors(text):
    """The anchors that headings of a page have, as GitHub makes them."""
    headings = re.findall(r'^#+ (.*)$', FENCED.sub('', text), re.MULTILINE)
    plain = [re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-') for heading in headings]
    return {*plain, *re.findall(r'<a (?:name|id)="([^"]+)"', text)}


def wrong_links(path, text):
    """Links to files that are missing, and to headings that their page does not have."""
    found = []
    for link in LINK.findall(FENCED.sub('', text)):
        file, _, anchor = link.partition('#')
        if re.match(r'\w+:', file):
            continue
        target = (path.parent / file).resolve() if file else path
        if not target.exists() or (anchor and target.suffix == '.md' and anchor not in
                                   anchors(text if target == path else text_of(target))):
            found.append(link)
    return found


def words_of(page):
    return [cells[0] for cells in architecture.rows(page, ['word', 'meaning'])]


class Guides(unittest.TestCase):
    def test_every_layer_has_its_row(self):
        self.assertEqual(wrong_layers(text_of('src/README.md'), architecture.LAYERS), [])
        self.assertEqual(wrong_beginnings(text_of('src/README.md')), [])

    def test_every_path_is_there(self):
        for guide in GUIDES:
            self.assertEqual(wrong_paths(text_of(guide)), [], guide)

    def test_every_link_leads_somewhere(self):
        for page in PAGES:
            self.assertEqual(wrong_links(page, page.read_text(encoding='utf-8')), [], page)

    def test_the_glossary_is_sorted(self):
        words = words_of(text_of('docs/glossary.md'))
        self.assertGreater(len(words), 50)
        self.assertEqual(words, sorted(set(words), key=str.casefold))


class Comparisons(unittest.TestCase):
    def test_a_layer_that_may_include_more_and_a_new_one_are_seen(self):
        more = architecture.LAYERS.replace('photon_layer(fold          USES base)',
                                           'photon_layer(fold USES base sync)')
        self.assertNotEqual(more, architecture.LAYERS)
        self.assertEqual(wrong_layers(text_of('src/README.md'), more + 'photon_layer(new)\n'),
                         ['fold', 'new'])

    def test_a_path_to_nothing_is_seen(self):
        self.assertEqual(wrong_paths('`src/engine/extra.cpp` `src/service/<name>/`'),
                         ['src/engine/extra.cpp'])

    def test_a_link_to_nothing_is_seen(self):
        page = ROOT / 'README.md'
        text = ('# A title\n[a](#a-title) [b](#none) [c](docs/tcp.md#none) [d](docs/none.md) '
                '[e](LICENSE)')
        self.assertEqual(wrong_links(page, text), ['#none', 'docs/tcp.md#none', 'docs/none.md'])


if __name__ == '__main__':
    sys.exit(unittest.main())
