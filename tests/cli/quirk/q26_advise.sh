# what: the scope report names the own times of scopes
# from: deviation: the order of the checkers is fixed
$TFPROF advise --graph_path="$DATA/small/views.graph.pbtxt" \
	--run_meta_path="$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt" \
	--op_log_path="$DATA/small/views.op_log.pbtxt"
