# what: M is 1,000,000 and Mi 1,048,576 in every option that takes a number
# from: deviation: the original knows no units
G="--graph_path=$DATA/recorded/mlp_0/graph.pb"
for size in 64000 64K 64KB 64Ki 64KiB; do
	$TFPROF scope $G --max-memory=$size 2>&1
done
printf 'set -min_bytes 1M -min_peak_bytes 1.5Mi -min_micros 20ms -min_params 1Ki -max_depth 1k -max_values 2k\nset -all\n' |
	$TFPROF $G | grep -E 'min_(bytes|peak|micros|params)|max_(depth|values)'
for size in 1M 1Mi 1X; do
	$TFPROF diff $DATA/recorded/mlp_0/graph.pb $DATA/recorded/mlp_0/graph.pb -select bytes --min_size=$size 2>&1 | grep -E 'minimum|size'
done
