# what: a shared node is counted under the first that reaches it
# from: original 2.21.0
$TFPROF graph --graph_path="$DATA/small/views.graph.pbtxt" \
	--run_meta_path="$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt" \
	--op_log_path="$DATA/small/views.op_log.pbtxt" \
	-max_depth 10000 -select params -hide_name_regexes 'gradients.*'
