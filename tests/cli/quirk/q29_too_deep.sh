# what: a node first met too deep is not shown through a shorter route
# from: original 2.21.0
$TFPROF graph --graph_path="$DATA/small/views.graph.pbtxt" \
	--run_meta_path="$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt" \
	--op_log_path="$DATA/small/views.op_log.pbtxt" \
	-start_name_regexes deep/1 -max_depth 3 -select params
