# what: a number of the list that is not loaded
# from: deviation: an extension
$TFPROF scope --graph_path=$DATA/small/views.graph.pbtxt --run_meta_path=$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt --op_log_path=$DATA/small/views.op_log.pbtxt -select micros -step 0,7
