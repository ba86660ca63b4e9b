#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds common slips of style in what people read: documents, comments, help and error texts. Prints
a line for each slip, then counts files. A rule is a pattern and the advice to print.

    tools/check_prose.py [FILE...]      all files of the repository, or these
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# (pattern, advice, in which texts): d documents, c comments, t texts in code
RULES = [
    (r'^(What|Who|Whose|The same)\b', 'begin with a verb or a noun: say what it is or does', 'c'),
    (r'(?<![Tt]here )\b(is|are) no (?!longer|more|less|later|older|such|need|way|room|point|reason|use|one|match|other|limit)[a-z]+\b(?! (?:of|in|for|to|left|behind|at|on)\b)',
     '"X is no Y": write "X is not a Y"', 'dct'),
    (r'\bso (many|often|much)\b(?! (as|that))', '"so many": name the number', 'dct'),
    (r'\b(hears|heard|tells of|told of|knows of|knows nothing|says nothing to)\b',
     'programs do not hear, tell or know: read, report, receive', 'dct'),
    (r'\b[Kk]nows? (no|nothing|neither|only)\b(?! (how|what|one))', '"knows no X": write "independent of X"', 'c'),
    (r'\b[Dd]oes not know\b', '"does not know X": write "independent of X"', 'c'),
    (r'^As\b(?! (a|an|the|long|soon)\b)', 'begin with a verb or a noun', 'c'),
    (r'^[Ll]ikewise\.?$', 'repeat what it is', 'c'),
    (r'^See [\w/]+\.h\.?$', 'say what the file does', 'c'),
    (r'\b(stands|stand|lies) (behind|before|beside|below|above) (it|them|that)\b', 'order: "after it", "before it"', 'dct'),
    (r'\b(undone|is undone)\b', 'name the operation: decompressed, reverted', 'dt'),
    (r'\bwrong words\b', 'usage error', 'dct'),
    (r'\bcut off\b', 'truncated', 'd'),
    (r'\b[Tt]hat of \w+ is\b', 'repeat the noun', 'dct'),
    (r'\bfor who\b|\bto who\b|\bwho (asks|reads|waits|has|is|wants)\b', 'name the reader, caller or process', 'dct'),
    (r'\bthe way of\b', 'name the path or the method', 'd'),
    (r'\b([a-z]+ [a-z]+) \1\b', 'words are repeated', 'dct'),
    (r'\b(profiles?|exports?|traces?|recordings?|snapshots?) of (pprof|TensorFlow|PyTorch|Go|JAX|Nsight Systems|perf|memray|Callgrind|Scalene)\b(?!\'s)',
     '"profile of X": write "X profile"', 'dt'),
    (r'\b(times|timings) of TensorRT\b|\btraces? in JSON\b', 'write "TensorRT timings", "JSON trace"', 'dt'),
    (r'\b[Tt]aken are\b', 'name the subject first', 'dt'),
    (r'\b(server|servers) of language models\b', 'LLM server', 'dct'),
]
RULES = [(re.compile(p), advice, where) for p, advice, where in RULES]

# Texts of the original, and generated files.
SKIP = re.compile(r'^(docs/ERRORS\.md|docs/man/|docs/completion/|testdata/|tests/examples/|tests/cli/|proto/|LICENSE|src/metric/metric\.def|tools/check_prose\.py)')


def comments(text):
    """Yields (line, comment text) of C and Python comments; lines of one comment are joined."""
    for m in re.finditer(r'/\*(.*?)\*/', text, re.S):
        line = text.count('\n', 0, m.start()) + 1
        body = re.sub(r'\n\s*\*? ?', ' ', m.group(1)).strip()
        yield line, re.sub(r'^SPDX-License-Identifier: \S+\s*', '', body)


def python_comments(text):
    """Yields (line, text) of docstrings and comments of Python; lines of one docstring are joined."""
    for m in re.finditer(r'^[ \t]*r?"""(.*?)"""|(?:^|[ \t])# ?([^\n]*)', text, re.S | re.M):
        yield text.count('\n', 0, m.start()) + 1, re.sub(r'\s*\n\s*', ' ', m.group(1) or m.group(2) or '').strip()


def strings(text):
    """Yields (line, text) of string literals, with adjacent ones joined."""
    text = re.sub(r'/\*.*?\*/', lambda m: re.sub(r'[^\n]', ' ', m.group(0)), text, flags=re.S)
    for m in re.finditer(r'"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*', text):
        yield text.count('\n', 0, m.start()) + 1, re.sub(r'"\s*"', '', m.group(0))[1:-1]


def prose(text):
    """Yields (line, sentence) of a document, without code blocks and without text in backquotes."""
    text = re.sub(r'```.*?```', lambda m: '\n' * m.group(0).count('\n'), text, flags=re.S)
    text = re.sub(r'`[^`\n]*`', 'X', text)
    for i, line in enumerate(text.split('\n'), 1):
        yield i, line


def pieces(path, text):
    if path.endswith('.md'):
        yield 'd', prose(text)
    elif path.endswith(('.c', '.h', '.def')):
        yield 'c', comments(text)
        if path.startswith('src/'):
            yield 't', strings(text)
    elif path.endswith('.py'):
        yield 'c', python_comments(text)


def main():
    files = sys.argv[1:] or subprocess.run(['git', 'ls-files', '*.md', '*.py', 'src', 'include', 'tests/*.[ch]', 'tools/*.[ch]'],
                                           cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout.decode().split()
    failed = passed = 0
    for path in files:
        if SKIP.match(path) or not path.endswith(('.md', '.py', '.c', '.h', '.def')):
            continue
        with open(os.path.join(ROOT, path), encoding='utf-8') as f:
            text = f.read()
        bad = ['%s:%d: "%s": %s' % (path, line, m.group(0), advice)
               for kind, found in pieces(path, text) for line, said in found
               for pattern, advice, where in RULES if kind in where for m in pattern.finditer(said)]
        print(''.join(x + '\n' for x in bad), end='')
        failed += bool(bad)
        passed += not bad
    print('%d passed, %d failed, 0 skipped' % (passed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
