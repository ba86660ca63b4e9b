# what: -step with a list: the average over these; the dump shows it as typed
# from: deviation: an extension
$TFPROF scope --graph_path=$DATA/small/views.graph.pbtxt --run_meta_path=$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt --op_log_path=$DATA/small/views.op_log.pbtxt -select micros -step 0,1 -max_depth 2
printf 'set -step 0..1,7..9\nset -step\nset -step 1\nset -step\nset -stats n,mean\nset -stats\n' | $TFPROF --graph_path=$DATA/small/views.graph.pbtxt
