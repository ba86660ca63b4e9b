# what: -stats without any step: no numbers, none made up
# from: deviation: an extension
$TFPROF scope --graph_path=$DATA/small/views.graph.pbtxt -select params -max_depth 2 -stats mean,max,n
$TFPROF scope --graph_path=$DATA/small/views.graph.pbtxt -select params -max_depth 1 -stats mean,max,n -output ndjson
