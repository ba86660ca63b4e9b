# what: csv: a head and integers in base units; progress goes to standard error
# from: deviation: an extension
$TFPROF scope --graph_path=$DATA/small/views.graph.pbtxt --run_meta_path=$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt --op_log_path=$DATA/small/views.op_log.pbtxt -select bytes,micros,params,occurrence -order_by micros -output csv
