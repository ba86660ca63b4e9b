# what: a lazy step that came in before a later one failed is not counted again; a missing step names all
# from: deviation: the original reads all of its files first
D=$DATA/recorded/mlp_0
lines='set -max_depth 1 -select micros
scope
scope
scope -step 0
scope -step 9
'
ask() { printf %s "$lines" | $TFPROF --graph_path=$D/graph.pb "$@" --lazy-steps; }
ask --run_meta_path=$D/run_meta_0.pb,missing | grep TFProf
ask --run_meta_path=$D/run_meta_0.pb,$D/run_meta_1.pb | grep TFProf
printf 'scope -step 9\nscope -max_depth 1 -step 1\n' |
	$TFPROF --graph_path=$D/graph.pb --run_meta_path=$D/run_meta_0.pb,$D/run_meta_1.pb --lazy-steps | grep TFProf
