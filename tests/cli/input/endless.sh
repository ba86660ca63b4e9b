# what: input without an end is refused at its first impossible byte, as a profile and as text too
# from: deviation: the original reads until memory ends
for flag in graph_path run_meta_path op_log_path profile_path; do
	$TFPROF --$flag=/dev/zero --max-memory=100M scope >/dev/null
	yes 'foo: 1' | $TFPROF --$flag=- --max-memory=100M scope >/dev/null
	gzip -c /dev/zero | $TFPROF --$flag=- --max-memory=100M scope >/dev/null
done
