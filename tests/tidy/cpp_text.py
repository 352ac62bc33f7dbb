"""Just enough C++ reading for the tidy rules: text without comments and strings, functions and
classes.

Works on braces and parentheses; knows nothing of types. Line numbers stay those of the file.
"""
import re
from dataclasses import dataclass

LITERAL = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.S)
DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n\\]|\\.|\\\n)*', re.M)
SCOPE = re.compile(r'\b(namespace|class|struct|union|enum|extern)\b')
NOT_A_NAME = ('alignas', 'decltype', 'requires', 'noexcept', '__attribute__', 'explicit',
              'static_assert', 'if', 'for', 'while', 'switch', 'return', 'sizeof')


def blank(text, keep=''):
    """As many line breaks as text has, and its first and last character if they are quotes."""
    return keep + '\n' * text.count('\n') + keep


def without_comments(text):
    """Comments become nothing, literals become empty ones."""
    def replacement(match):
        found = match.group(0)
        return blank(found, '' if found.startswith('/') else '"')
    return LITERAL.sub(replacement, text)


def comments(text):
    """(line number, comment) of every comment."""
    for match in LITERAL.finditer(text):
        if match.group(0).startswith('/'):
            yield text.count('\n', 0, match.start()) + 1, match.group(0)


@dataclass
class Function:
    name: str
    line: int
    lines_count: int        # 0: only declared
    parameters_count: int
    is_friend: bool = False


@dataclass
class Class:
    name: str
    line: int
    lines_count: int
    functions_count: int    # what it declares; classes inside it have their own


def matching(text, start):
    """Index behind the bracket that closes the one at start."""
    depth = 0
    for i in range(start, len(text)):
        if text[i] in '([{':
            depth += 1
        elif text[i] in ')]}':
            depth -= 1
            if depth == 0:
                return i + 1
    return len(text)


def count_parameters(text):
    text = re.sub(r'->|<=|>=|<<|>>(?=\s*\w)', ' ', text).strip()
    if text in ('', 'void'):
        return 0
    depth = 0
    count = 1
    for c in text:
        depth += (c in '([{<') - (c in ')]}>')
        count += c == ',' and depth == 0
    return count


def signature(head):
    """(name, parameter text) of a declaration's head, or None if it declares no function."""
    head = re.sub(r'\[\[.*?\]\]', ' ', head, flags=re.S)
    head = re.sub(r'^\s*template\s*<.*?>\s*(?=[\w\[])', ' ', head, flags=re.S)
    head = re.sub(r'\boperator\s*\(\s*\)', 'operator_call', head)
    position = 0
    while True:
        opening = head.find('(', position)
        if opening < 0:
            return None
        if '=' in re.sub(r'operator\s*[=!<>+\-*/&|^%]*=+', '', head[:opening]):
            return None  # an initializer
        end = matching(head, opening)
        if is_in_angles(head[:opening]):
            position = end
            continue
        name = re.search(r'([~\w]+|operator\s*\S+)\s*$', head[:opening])
        if name and name.group(1) not in NOT_A_NAME:
            return name.group(1), head[opening + 1:end - 1]
        if name and name.group(1) == 'static_assert':
            return None
        position = end


def is_in_angles(head):
    """Does head end between the brackets of a template's arguments, as in std::function<void?"""
    head = re.sub(r'operator\s*[<>=-]+|->|<=|>=|<<|>>(?=\s*\w)', ' ', head)
    return head.count('<') > head.count('>')


def is_member_initializer(head):
    """Is a brace behind this head that of `member{value}` in a constructor's list?"""
    closing = re.search(r'\)\s*(noexcept\s*)?:(?!:)', head)
    return bool(closing) and re.search(r'[\w>]\s*$', head) is not None


def functions(text):
    """Functions declared and defined at namespace and class scope, bodies not entered."""
    text = DIRECTIVE.sub(lambda match: blank(match.group(0)), without_comments(text))
    start = position = 0
    while position < len(text):
        c = text[position]
        head = text[start:position]
        if c in '([':
            position = matching(text, position)
            continue
        if c == ':' and re.fullmatch(r'\s*(public|private|protected)\s*', head) or c == '}':
            start = position + 1
        elif c == ';':
            yield from describe(text, start, position, 0)
            start = position + 1
        elif c == '{':
            found = signature(head)
            if found is None and SCOPE.search(head) and '=' not in head:
                if re.search(r'\benum\b', head):
                    position = matching(text, position) - 1
                else:
                    start = position + 1
            elif found is None or is_member_initializer(head):
                position = matching(text, position) - 1  # an initializer; the head goes on
            else:
                end = matching(text, position)
                yield from describe(text, start, position, end)
                position = end - 1
                start = end
        position += 1


def describe(text, start, opening, end):
    head = text[start:opening]
    found = signature(head)
    if not found or re.match(r'\s*(using|typedef|static_assert|return)\b', head):
        return
    first = start + len(head) - len(head.lstrip())
    line = text.count('\n', 0, first) + 1
    lines_count = text.count('\n', first, end) + 1 if end else 0
    yield Function(found[0], line, lines_count, count_parameters(found[1]),
                   bool(re.match(r'\s*friend\b', head)))


def class_name(head):
    """The name of the class that a brace behind this head opens, or None if it opens none."""
    head = re.sub(r'\[\[.*?\]\]|\balignas\s*\([^)]*\)', ' ', head, flags=re.S)
    if signature(head) or '=' in re.sub(r'<.*?>', '', head, flags=re.S):
        return None
    keys = re.findall(r'(?<![<,\w])(?<!, )\b(class|struct|union)\b\s*([\w:]*)', head)
    return (keys[0][1] or '(unnamed)') if keys and not re.search(r'\benum\b', head) else None


def classes(text):
    """Classes with a body at namespace and class scope; those inside a class follow it."""
    text = DIRECTIVE.sub(lambda match: blank(match.group(0)), without_comments(text))
    yield from classes_in(text, 1)


def classes_in(text, first_line):
    start = position = 0
    while position < len(text):
        c = text[position]
        head = text[start:position]
        if c in '([':
            position = matching(text, position)
            continue
        if c in ';}' or c == ':' and re.fullmatch(r'\s*(public|private|protected)\s*', head):
            start = position + 1
        elif c == '{':
            name = class_name(head)
            end = matching(text, position)
            if name is not None:
                first = start + len(head) - len(head.lstrip())
                line = first_line + text.count('\n', 0, first)
                body_line = first_line + text.count('\n', 0, position)
                inner = list(classes_in(text[position + 1:end - 1], body_line))
                own = [f for f in functions(text[position + 1:end - 1]) if not f.is_friend]
                count = len(own) - sum(other.functions_count for other in inner)
                yield Class(name, line, text.count('\n', first, end) + 1, count)
                yield from inner
                position = end - 1
            elif re.search(r'\b(namespace|extern)\b', head) and not signature(head):
                start = position + 1
            else:
                position = end - 1
                if signature(head) and not is_member_initializer(head):
                    start = end
        position += 1
