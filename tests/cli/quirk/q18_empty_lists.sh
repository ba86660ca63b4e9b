# what: an empty list of account patterns accounts nothing, one of start patterns begins op at its first entry
# from: original 2.21.0
$TFPROF op --graph_path="$DATA/small/views.graph.pbtxt" \
	--run_meta_path="$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt" \
	--op_log_path="$DATA/small/views.op_log.pbtxt" \
	-start_name_regexes '' -max_depth 1 -select occurrence
