# what: tensor_value has a line in the Doc block and no legend; code says that it has none
# from: original 2.21.0
$TFPROF code --graph_path="$DATA/small/views.graph.pbtxt" \
	--run_meta_path="$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt" \
	--op_log_path="$DATA/small/views.op_log.pbtxt" \
	-max_depth 2 -select tensor_value,device
