# what: a limit on memory ends in a sentence that names it
# from: deviation: the original knows no such limit
$TFPROF scope --graph_path="$DATA/recorded/mlp_0/graph.pb" --max-memory=64K
