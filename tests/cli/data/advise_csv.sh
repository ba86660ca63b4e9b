# what: advise in rows
# from: deviation: an extension
$TFPROF advise --graph_path=$DATA/small/views.graph.pbtxt --run_meta_path=$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt --op_log_path=$DATA/small/views.op_log.pbtxt -output csv
