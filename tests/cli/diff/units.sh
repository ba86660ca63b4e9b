# what: a text that lacks the metric asked for; status 1
# from: deviation: the original compares nothing
V=$DATA/small/views.graph.pbtxt
A=$V,$DATA/small/views.run_meta_0.pbtxt
B=$V,$DATA/small/views.run_meta_1.pbtxt
printf '_TFProfRoot (--/2.00MB)\n  a (1.00MB/2.00MB)\n' >text
$TFPROF diff text $A -select micros
status=$?
rm text
exit $status
