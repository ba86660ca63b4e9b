# what: -min_params, -min_float_ops and -min_occurrence test the own value of a node, -min_micros the total
# from: original 2.21.0
$TFPROF scope --graph_path="$DATA/small/views.graph.pbtxt" \
	--run_meta_path="$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt" \
	--op_log_path="$DATA/small/views.op_log.pbtxt" \
	-max_depth 10000 -min_float_ops 1 -min_micros 1 -select float_ops,micros
