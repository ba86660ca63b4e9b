# SPDX-License-Identifier: Apache-2.0
# Makes small jobs for the goldens of folders and workers; to be read with "." by sh.

# job FOLDER STEP START A B: a graph of in/a and in/b and the run metadata of a step that begins at
# START and in which they take A and B microseconds; one that takes 0 does not run.
job() {
	mkdir -p "$1"
	cat >"$1/graph.pbtxt" <<-'END'
		node { name: "in/a" op: "MatMul" }
		node { name: "in/b" op: "Relu" input: "in/a" }
	END
	{
		echo 'step_stats { dev_stats { device: "/job:worker/replica:0/task:0/cpu:0"'
		[ "$4" = 0 ] || echo "node_stats { node_name: 'in/a' all_start_micros: $3 op_end_rel_micros: $4 all_end_rel_micros: $4 }"
		[ "$5" = 0 ] || echo "node_stats { node_name: 'in/b' all_start_micros: $(($3 + $4)) op_end_rel_micros: $5 all_end_rel_micros: $5 }"
		echo '} }'
	} >"$1/run_meta_$2"
}

# profile FOLDER STEP START A B: the same as FOLDER/profile_STEP.
profile() {
	job new.job "$2" "$3" "$4" "$5"
	mkdir -p "$1"
	$TFPROF convert new.job -output profile:outfile="$1/profile_$2" 2>/dev/null
	rm -r new.job
}

# rows VIEW WORDS...: the answer from its legend on.
rows() {
	$TFPROF "$@" | sed -n '/^node name/,$p'
}
