# what: rows of numbers
# from: deviation: the original compares nothing
V=$DATA/small/views.graph.pbtxt
A=$V,$DATA/small/views.run_meta_0.pbtxt
B=$V,$DATA/small/views.run_meta_1.pbtxt
$TFPROF diff $A $B --delta 0 -max_depth 2 -output csv
