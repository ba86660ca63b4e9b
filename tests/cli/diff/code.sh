# what: lines of Python; the names of the sides as words behind them
# from: deviation: the original compares nothing
V=$DATA/small/views.graph.pbtxt
A=$V,$DATA/small/views.run_meta_0.pbtxt
B=$V,$DATA/small/views.run_meta_1.pbtxt
L=$DATA/small/views.op_log.pbtxt
$TFPROF diff code $A,$L $B,$L old new -max_depth 3
