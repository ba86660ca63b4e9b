# what: a document: sides, options, gates, rows
# from: deviation: the original compares nothing
V=$DATA/small/views.graph.pbtxt
A=$V,$DATA/small/views.run_meta_0.pbtxt
B=$V,$DATA/small/views.run_meta_1.pbtxt
$TFPROF diff $A $B -max_depth 2 -output json --gate 'total.bytes<+500%' --gate 'total.micros<9ms' | sed 's/"options":{[^}]*}/"options":{}/;s/"version":"[^"]*"/"version":""/'
