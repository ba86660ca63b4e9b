# what: a negative -min_occurrence hides nothing
# from: original 2.21.0
$TFPROF op --graph_path="$DATA/small/views.graph.pbtxt" \
	--run_meta_path="$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt" \
	--op_log_path="$DATA/small/views.op_log.pbtxt" \
	-max_depth 10000 -min_occurrence -1 -select occurrence
