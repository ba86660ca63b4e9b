# what: an ancestor that is not accounted adds its own numbers to the totals and counts as defined
# from: original 2.21.0
$TFPROF scope --graph_path="$DATA/small/views.graph.pbtxt" \
	--run_meta_path="$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt" \
	--op_log_path="$DATA/small/views.op_log.pbtxt" \
	-max_depth 10000 -account_type_regexes Add -select micros,occurrence
