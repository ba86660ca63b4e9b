#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command in a pseudo-terminal and draws what it prints as an SVG image.

    tools/draw_terminal.py OUT.svg COLUMNS COMMAND [WORD...]

Bold, dim and the 16 colours of a terminal are drawn; all other escape sequences are dropped. Lines of
the `Doc:` block of a view are left out: the picture is about the numbers.
"""
import fcntl
import html
import os
import pty
import re
import struct
import sys
import termios

COLORS = {30: '#1f2328', 31: '#cf222e', 32: '#1a7f37', 33: '#9a6700', 34: '#0969da', 35: '#8250df',
          36: '#1b7c83', 37: '#57606a', 90: '#6e7781', 91: '#cf222e', 92: '#1a7f37', 93: '#9a6700',
          94: '#0969da', 95: '#8250df', 96: '#1b7c83', 97: '#57606a'}
WIDTH, HEIGHT, MARGIN = 7.83, 17, 16  # of a letter at 13 px, of a line, around all; pixels


def capture(columns, words):
    """Returns what the command writes to a terminal of that many columns."""
    pid, fd = pty.fork()
    if pid == 0:
        # The parent sets the size; without a line from it the command would start too early.
        sys.stdin.readline()
        os.environ.update(TERM='xterm-256color', PAGER='cat')
        os.execvp(words[0], words)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 200, columns, 0, 0))
    mode = termios.tcgetattr(fd)
    mode[3] &= ~termios.ECHO
    termios.tcsetattr(fd, termios.TCSANOW, mode)
    os.write(fd, b'\n')
    out = b''
    while True:
        try:
            data = os.read(fd, 65536)
        except OSError:  # the terminal is closed when the command ends
            break
        if not data:
            break
        out += data
    os.waitpid(pid, 0)
    return out.decode().replace('\r\n', '\n')


def spans(line):
    """Yields (style, text) of a line with escape sequences."""
    color, bold, dim = None, False, False
    for part in re.split(r'(\x1b\[[0-9;?]*[A-Za-z])', line):
        if not part.startswith('\x1b['):
            style = ('fill:%s;' % color if color else '') + 'font-weight:bold;' * bold + 'opacity:.6;' * dim
            if part:
                yield style, part
        elif part.endswith('m'):
            for code in (int(x or 0) for x in part[2:-1].split(';')):
                if code == 0:
                    color, bold, dim = None, False, False
                bold, dim = (bold or code == 1) and code != 22, (dim or code == 2) and code != 22
                color = COLORS.get(code, None if code == 39 else color)


def draw(lines, columns):
    width, height = int(columns * WIDTH + 2 * MARGIN), len(lines) * HEIGHT + 2 * MARGIN
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="monospace" font-size="13">'
           % (width, height), '<rect width="100%" height="100%" rx="8" fill="#f6f8fa" stroke="#d0d7de"/>']
    for i, line in enumerate(lines):
        parts = ''.join('<tspan%s>%s</tspan>' % (' style="%s"' % s if s else '', html.escape(t, quote=False))
                        for s, t in spans(line))
        out.append('<text x="%d" y="%d" fill="#1f2328" xml:space="preserve">%s</text>'
                   % (MARGIN, MARGIN + 12 + i * HEIGHT, parts))
    return '\n'.join(out + ['</svg>', ''])


def main():
    path, columns, words = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    text = re.sub(r'\x1b\[[0-9;]*m(?=Doc:)', '', capture(columns, words))
    text = re.sub(r'\nDoc:\n.*?\n\n', '\n', text, flags=re.S)
    lines = ['$ tfprof ' + ' '.join(os.path.basename(w) if '/' in w else w for w in words[1:]), *text.strip('\n').split('\n')]
    with open(path, 'w', encoding='utf-8') as f:
        f.write(draw(lines, columns))


if __name__ == '__main__':
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main()
