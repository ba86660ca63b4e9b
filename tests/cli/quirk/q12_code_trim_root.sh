# what: code shows its root where a trim pattern matches it
# from: deviation: the original crashes
$TFPROF code --graph_path="$DATA/small/views.graph.pbtxt" \
	--run_meta_path="$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt" \
	--op_log_path="$DATA/small/views.op_log.pbtxt" \
	-max_depth 10000 -trim_name_regexes '.*' -select micros
