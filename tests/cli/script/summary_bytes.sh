# what: names in the summary cannot steer a terminal
# from: deviation: the original has no summary
printf 'node { name: "a" op: "B" }' >g.pbtxt
printf 'step_stats { dev_stats { device: "/device:\\033[2J:cpu:0" node_stats { node_name: "a" all_start_micros: 1 } } }' >r.pbtxt
$TFPROF --color=always --graph_path=g.pbtxt --run_meta_path=r.pbtxt </dev/null | grep devices
rm g.pbtxt r.pbtxt
