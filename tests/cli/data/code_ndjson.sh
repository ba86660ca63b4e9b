# what: ndjson: paths of code are lines from the outermost on
# from: deviation: an extension
$TFPROF code --graph_path=$DATA/small/views.graph.pbtxt --run_meta_path=$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt --op_log_path=$DATA/small/views.op_log.pbtxt -select micros -output ndjson
