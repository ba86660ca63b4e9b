# what: a text of the op view beside its model; nothing but rounding differs
# from: deviation: the original compares nothing
V=$DATA/small/views.graph.pbtxt
A=$V,$DATA/small/views.run_meta_0.pbtxt
B=$V,$DATA/small/views.run_meta_1.pbtxt
$TFPROF op --graph_path=$V --run_meta_path=$DATA/small/views.run_meta_0.pbtxt -select micros,params -max_depth 99 >text 2>/dev/null
$TFPROF diff op text $A --names was,is
$TFPROF diff op text $B --names was,is
rm text
