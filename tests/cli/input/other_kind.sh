# what: a file given by the flag of another kind is named, whether it can be read as that kind or not
# from: deviation: the original reads what it can, and says nothing
for flag in graph_path run_meta_path op_log_path profile_path; do
	for file in graph run_meta_0 op_log profile; do
		$TFPROF --$flag=$DATA/recorded/mlp_0/$file.pb scope 2>&1 >/dev/null |
			sed 's|[^ ]*/mlp_0/||; s/: byte.*parsed: .*;/: byte ...;/'
	done
done
