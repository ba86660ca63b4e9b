# what: a text is compared with a model by the metric that it has
# from: deviation: the original compares nothing
V=$DATA/small/views.graph.pbtxt
A=$V,$DATA/small/views.run_meta_0.pbtxt
B=$V,$DATA/small/views.run_meta_1.pbtxt
printf 'node name | total execution time\n_TFProfRoot (--/90us)\n  net (1us/50us)\n' >text
$TFPROF diff text $A then now
rm text
