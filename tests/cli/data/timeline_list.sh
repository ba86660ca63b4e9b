# what: timelines of a list: graph, one for each step of it; scope, of their average
# from: deviation: an extension
$TFPROF scope --graph_path=$DATA/small/views.graph.pbtxt --run_meta_path=$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt --op_log_path=$DATA/small/views.op_log.pbtxt -step 0,1 -max_depth 100 -output timeline:outfile=s.json
$TFPROF graph --graph_path=$DATA/small/views.graph.pbtxt --run_meta_path=$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt --op_log_path=$DATA/small/views.op_log.pbtxt -step 1..5 -max_depth 100 -output timeline:outfile=g.json
ls; rm -f *.json_*
