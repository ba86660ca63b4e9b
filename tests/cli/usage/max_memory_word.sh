# what: a limit that is no number of bytes is refused
# from: deviation: the original knows no such limit
$TFPROF scope --graph_path="$DATA/recorded/mlp_0/graph.pb" --max-memory=much
