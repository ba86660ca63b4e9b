# what: a note names missing times and memory where no step is loaded, unless the original knows the words
# from: deviation: notes are ours
$TFPROF scope "$DATA/small/views.graph.pbtxt" -select micros -max_depth 1
$TFPROF scope "$DATA/small/views.graph.pbtxt" -select bytes -max_depth 1 -output csv
$TFPROF scope "$DATA/small/views.graph.pbtxt" -select params,occurrence -max_depth 1
$TFPROF scope --graph_path="$DATA/small/views.graph.pbtxt" -select micros -max_depth 1
