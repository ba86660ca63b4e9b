# what: a step that one side lacks; status 1
# from: deviation: the original compares nothing
V=$DATA/small/views.graph.pbtxt
A=$V,$DATA/small/views.run_meta_0.pbtxt
B=$V,$DATA/small/views.run_meta_1.pbtxt
$TFPROF diff $A $A,$DATA/small/views.run_meta_1.pbtxt -step 1
