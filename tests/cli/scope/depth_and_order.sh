# what: the view of one step, two levels deep, the slowest first
# from: rule of the original
$TFPROF scope --graph_path="$DATA/recorded/synthetic_1/graph.pb" \
	--run_meta_path="$DATA/recorded/synthetic_1/run_meta_0.pb" \
	--op_log_path="$DATA/recorded/synthetic_1/op_log.pb" \
	-max_depth 2 -order_by micros -select micros,bytes -step 0
