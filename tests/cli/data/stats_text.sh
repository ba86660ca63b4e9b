# what: -stats in scope: columns behind the others, own/total
# from: deviation: an extension
$TFPROF scope --graph_path=$DATA/small/views.graph.pbtxt --run_meta_path=$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt --op_log_path=$DATA/small/views.op_log.pbtxt -select micros -stats mean,cv,median,min,max,std,p95,p99,n
