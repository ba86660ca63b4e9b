# what: a file that is not there is named; status 3
# from: deviation: what cannot be read ends with status 3
$TFPROF scope --graph_path=no_such_graph.pb
