# what: -stats in op
# from: deviation: an extension
$TFPROF op --graph_path=$DATA/small/views.graph.pbtxt --run_meta_path=$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt --op_log_path=$DATA/small/views.op_log.pbtxt -select micros,occurrence -order_by micros -stats mean,n
