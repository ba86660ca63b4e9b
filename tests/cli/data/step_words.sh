# what: words that are no steps
# from: deviation: an extension
for s in 1..0 -1,2 1,,x 0.. ..3 ,; do $TFPROF scope --graph_path=$DATA/small/views.graph.pbtxt --run_meta_path=$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt --op_log_path=$DATA/small/views.op_log.pbtxt -step $s && exit 9; done; exit 2
