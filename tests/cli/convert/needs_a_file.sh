# what: convert without -output profile:outfile=FILE says what is missing
# from: deviation: a command of ours
$TFPROF convert --graph_path=$DATA/recorded/mlp_0/graph.pb >/dev/null
