# what: float operations are times the runs of the step, and none if it did not run
# from: original 2.21.0
$TFPROF graph --graph_path="$DATA/small/views.graph.pbtxt" \
	--run_meta_path="$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt" \
	--op_log_path="$DATA/small/views.op_log.pbtxt" \
	-max_depth 10000 -step 1 -select float_ops,occurrence
