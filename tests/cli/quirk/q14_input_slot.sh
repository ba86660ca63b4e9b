# what: the input w:1 has the shape of output 0
# from: original 2.21.0
$TFPROF op --graph_path="$DATA/small/views.graph.pbtxt" \
	--run_meta_path="$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt" \
	--op_log_path="$DATA/small/views.op_log.pbtxt" \
	-start_name_regexes MatMul -max_depth 0 -select input_shapes
