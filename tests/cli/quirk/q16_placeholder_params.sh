# what: a placeholder with a shape has parameters
# from: original 2.21.0
$TFPROF scope --graph_path="$DATA/small/views.graph.pbtxt" \
	--run_meta_path="$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt" \
	--op_log_path="$DATA/small/views.op_log.pbtxt" \
	-max_depth 10000 -select params -show_name_regexes in
