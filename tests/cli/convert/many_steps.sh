# what: the memory of a conversion does not grow with the number of files that it writes
# from: deviation: the original writes no run metadata
printf 'node { name: "a" op: "A" }' >g
printf 'step_stats { dev_stats { device: "/job:a/device:CPU:0" node_stats { node_name: "a" all_start_micros: 9 op_end_rel_micros: 5 } } }' >r
$TFPROF convert --max-memory=12M --graph_path=g --run_meta_path="$(yes r | head -400 | paste -sd,)" -output run_meta:outfile=o 2>&1 >/dev/null | grep limit
ls | grep -c '^o_[0-9]*$'
rm g r o_*
