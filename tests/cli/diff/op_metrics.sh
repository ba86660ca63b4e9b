# what: operation types by two metrics, the view said behind the sides
# from: deviation: the original compares nothing
V=$DATA/small/views.graph.pbtxt
A=$V,$DATA/small/views.run_meta_0.pbtxt
B=$V,$DATA/small/views.run_meta_1.pbtxt
$TFPROF diff $A $B op -select micros,bytes --min_size 1B
