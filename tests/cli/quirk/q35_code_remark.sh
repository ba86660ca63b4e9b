# what: code repeats that it ignores -account_displayed_op_only
# from: original 2.21.0
$TFPROF code --graph_path="$DATA/small/views.graph.pbtxt" \
	--run_meta_path="$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt" \
	--op_log_path="$DATA/small/views.op_log.pbtxt" \
	-account_displayed_op_only true -max_depth 2 -select micros
