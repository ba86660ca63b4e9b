# what: per run, a node that ran twice as often is not slower
# from: deviation: the original compares nothing
printf 'node { name: "a" op: "A" }\n' >g.pbtxt
step() { printf 'step_stats { dev_stats { device: "/job:a/replica:0/task:0/cpu:0"\n'; for i in $1; do printf 'node_stats { node_name: "a" all_start_micros: %d op_end_rel_micros: 50 }\n' $i; done; printf '} }\n'; }
step 100 >once.pbtxt
step '100 200' >twice.pbtxt
$TFPROF diff g.pbtxt,once.pbtxt g.pbtxt,twice.pbtxt
$TFPROF diff g.pbtxt,once.pbtxt g.pbtxt,twice.pbtxt --per run
rm *.pbtxt
