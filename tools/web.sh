#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Bundles the page in web/ into a C file, of which the library embeds the bytes.
#   tools/web.sh --probe            status 0 if esbuild and d3-scale are there
#   tools/web.sh 0|1 OUT.c [PAGE]   0: a file without a page; PAGE: also writes the page without data there
# d3 comes from node_modules or from the packages of Debian. The page has one script and one style sheet, both inline;
# web/notices.txt has its licences. Its Content-Security-Policy allows exactly these two, by their SHA-256, and no connection.
set -eu
cd "$(dirname "$0")/.."
NODE_PATH=${NODE_PATH:+$NODE_PATH:}/usr/share/nodejs
export NODE_PATH

# The page's metrics are those of the table: {name: {label, unit, least: it has -min_<name>}}.
metrics={$(tr '\n\t' '  ' <src/metric/metric.def | sed 's/ROW(/\n&/g' | sed -n '
	s/^ROW([A-Z_]*, \("[a-z_]*"\), \("[^"]*"\), V_[A-Z_]*, UNIT_\([A-Z]*\), *\([A-Z_ |]*\),.*/\1:{"label":\2,"unit":"\3","least":"\4"}/
	s/"least":"[^"]*USE_MIN[^"]*"/"least":true/
	s/"least":"[^"]*"/"least":false/
	/^"/p' | paste -sd, -)}

bundle() { # flags...
	esbuild web/main.js "--define:METRICS=$metrics" --bundle --format=iife --target=es2020 --charset=utf8 --legal-comments=none --log-level=error "$@"
}

if [ "$1" = --probe ]; then
	command -v esbuild >/dev/null 2>&1 && printf 'import { scaleLinear } from "d3-scale"; scaleLinear();' |
		esbuild --bundle --log-level=silent >/dev/null 2>&1
	exit
fi

out=$2
bytes() { # name file
	printf 'const uint8_t %s[] = {' "$1"
	od -An -v -tu1 "$2" | sed 's/  *\([0-9][0-9]*\)/\1,/g'
	printf '0};\nconst size_t %s_size = sizeof %s - 1;\n' "$1" "$1"
}
sha256() { # file: the digest in base64
	octal=$({ sha256sum "$1" 2>/dev/null || shasum -a 256 "$1"; } | awk '{
		h = "0123456789abcdef"
		for (i = 1; i < 64; i += 2)
			printf "\\%03o", (index(h, substr($1, i, 1)) - 1) * 16 + index(h, substr($1, i + 1, 1)) - 1
	}')
	# shellcheck disable=SC2059
	printf "$octal" | base64
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/head"
: >"$work/tail"
if [ "$1" = 1 ]; then
	bundle --minify >"$work/page.js"
	esbuild web/style.css --minify --log-level=error | tr -d '\n' >"$work/page.css"
	# Checks that nothing in the bundle ends the element early. esbuild escapes it in strings.
	if grep -qi '</script' "$work/page.js" || grep -qi '</style' "$work/page.css"; then
		echo 'tools/web.sh: the bundle contains the end of its own element' >&2
		exit 1
	fi
	hashes="s|@SCRIPT@|$(sha256 "$work/page.js")|; s|@STYLE@|$(sha256 "$work/page.css")|"
	{
		sed -e '/<!-- style -->/,$d' -e "$hashes" web/index.html
		printf '<style>'
		cat "$work/page.css"
		printf '</style>\n'
		sed '1,/<!-- style -->/d' web/index.html
		printf '<script id="data" type="application/octet-stream">'
	} >"$work/head"
	{
		printf '</script>\n<script>'
		cat "$work/page.js"
		printf '</script>\n<!--\n'
		cat web/notices.txt
		printf -- '-->\n</body>\n</html>\n'
	} >"$work/tail"
	[ -z "${3-}" ] || cat "$work/head" "$work/tail" >"$3"
fi
{
	printf '/* Made by tools/web.sh. */\n#include "export/page/html.h"\n\n'
	bytes web_head "$work/head"
	bytes web_tail "$work/tail"
} >"$out"
