# what: graph is documented as scope
# from: original 2.21.0
$TFPROF graph --graph_path="$DATA/small/views.graph.pbtxt" \
	--run_meta_path="$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt" \
	--op_log_path="$DATA/small/views.op_log.pbtxt" \
	-max_depth 1 -select bytes,peak_bytes,residual_bytes,output_bytes
