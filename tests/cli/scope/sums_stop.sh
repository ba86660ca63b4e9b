# what: a sum beyond 64 bits stops at their end, and a note says so: in a view, in a comparison, in advice, of a baseline
# from: deviation: the original's go round
big=4611686018427387904
echo 'step_stats { dev_stats { device: "/device:CPU:0"' >run_meta.pbtxt
for n in s/a s/b c; do
	printf 'node { name: "%s" op: "Op" }\n' $n >>graph.pbtxt
	printf 'node_stats { node_name: "%s" all_start_micros: 9 all_end_rel_micros: 5\n' $n
	printf 'memory { allocator_name: "cpu" total_bytes: %s } }\n' $big
done >>run_meta.pbtxt
echo 'node_stats { node_name: "a" all_start_micros: 9 memory { allocator_name: "cpu" total_bytes: -5 } }' >>run_meta.pbtxt
echo 'node { name: "a" op: "Op" }' >>graph.pbtxt
echo '} }' >>run_meta.pbtxt
$TFPROF scope --graph_path=graph.pbtxt --run_meta_path=run_meta.pbtxt -max_depth 5 -select bytes
$TFPROF diff graph.pbtxt,run_meta.pbtxt graph.pbtxt,run_meta.pbtxt -select bytes -max_depth 1
$TFPROF advise --graph_path=graph.pbtxt --run_meta_path=run_meta.pbtxt
$TFPROF baseline save b graph.pbtxt run_meta.pbtxt
$TFPROF baseline show b
rm -r graph.pbtxt run_meta.pbtxt .tfprof
