#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Writes the schemas of documents as a C file, for the command schema:
#   tools/schemas.sh OUT FILE...
set -eu
out=$1
shift
{
	printf '/* Made by tools/schemas.sh. */\n#include "lib/schemas.h"\n\nconst struct schema schemas[] = {\n'
	for file; do
		name=${file##*/}
		printf '{ "%s",\n' "${name%.json}"
		sed 's/[\\"]/\\&/g; s/^/"/; s/$/\\n"/' "$file"
		printf '},\n'
	done
	printf '{ 0, 0 }\n};\n'
} >"$out"
