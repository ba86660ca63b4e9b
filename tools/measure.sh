#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints figures on how the code is cut, each counted in the sources. usage: tools/measure.sh [ROOT]
cd "${1:-$(dirname "$0")/..}" || exit 1

row() { printf '| %-62s | %9s | %8s |\n' "$1" "$2" "$3"; }
files() { grep -lE "$1" src/*/*.[ch] src/*/*.def | grep -cvE "$2"; }

# Structs of one name that are defined in two files.
structs() {
	grep -hoE '^(static (const )?)?struct [a-z_0-9]+ \{' src/*/*.[ch] | sed -E 's/.*struct ([a-z_0-9]+) .*/\1/' | sort | uniq -d | wc -l
}

# Counts the lines of code in sources, headers and tables, without comments and blank lines.
code() {
	python3 -B -c '
import glob, re
text = "".join(open(p).read() for p in glob.glob("src/*/*"))
bare = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", lambda m: "x" if m.group()[0] == "\"" else "", text, flags=re.S)
print(sum(1 for line in bare.splitlines() if line.strip()))'
}

layers=$(python3 -B tools/check_layers.py)
levels=$(printf '%s\n' "$layers" | sed -n 's/^levels: //p' | tr -d , | tr ' ' '\n' | grep '^[0-9]' | sort -n | tail -1)

row measure now target
row --- ---: ---:
row 'files that call the block decoder' "$(files '\bblock_decode\(' '^src/io/(block_|recording_in)')" 1
row 'files that name a view' "$(files '"(scope|graph|code)"|\bview_(scope|graph|op|code)\b|\b(VK_|VIEW\()(SCOPE|GRAPH|OP|CODE)\b' '^src/(io|trace|checkpoint|model)/')" '<= 8'
row 'headers in src' "$(ls src/*/*.h | wc -l)" '<= 110'
row 'circles between files of a folder' "$(printf '%s\n' "$layers" | grep -c 'in a circle')" 0
row 'levels inside the largest folder' "$levels" '<= 8'
row 'files with a table of units of numbers' "$(files '\{ "(mi|ms|MB)", ' '^$')" 1
row 'struct names defined in two files' "$(structs)" 0
row 'comments that open with What, Who, Whose, The same' "$(grep -cE '^[[:space:]]*(/\*| \*) (What|Who|Whose|The same)\b' src/*/*.[ch] | awk -F: '{ n += $2 } END { print n }')" '< 10'
row 'lists of the files of the library in the Makefile' "$(grep -cE '^LIB_SRC.*src/[a-z]+/[a-z_]+\.c' Makefile)" 0
row 'lines of src' "$(cat src/*/* | wc -l)" '<= 49000'
row 'lines of src without comments and blank lines' "$(code)" ''
row 'scripts at the top of tests/' "$(ls tests/*.py tests/*.sh 2>/dev/null | wc -l)" 0
