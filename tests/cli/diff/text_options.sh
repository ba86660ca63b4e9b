# what: options that choose numbers of a profile are said to do nothing to a text
# from: deviation: the original compares nothing
V=$DATA/small/views.graph.pbtxt
A=$V,$DATA/small/views.run_meta_0.pbtxt
printf 'node name | total execution time\n_TFProfRoot (--/90us)\n  net (1us/50us)\n' >text
$TFPROF diff text $A then now -step 0 -account_type_regexes '.*' -max_depth 1 -min_micros 1 -order_by name >/dev/null
$TFPROF diff text text -step 0,1 -account_type_regexes Conv2D -device_regexes 'gpu.*' -worker_regexes 'x' | head -1
rm text
