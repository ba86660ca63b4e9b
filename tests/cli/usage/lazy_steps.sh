# what: steps that are read when asked for give the same answers; no coverage is said of them
# from: deviation: the original reads all of its files first
D=$DATA/recorded/mlp_0
R=$D/run_meta_0.pb,$D/run_meta_1.pb
set -- -max_depth 2 -select micros,bytes -order_by name
for step in 1 0 -1; do
	$TFPROF scope --graph_path=$D/graph.pb --run_meta_path=$R -step $step "$@" | grep -v coverage >all
	$TFPROF scope --graph_path=$D/graph.pb --run_meta_path=$R --lazy-steps -step $step "$@" >lazy
	cmp all lazy
	sed -n '/^_TFProfRoot/p' all
	rm all lazy
done
