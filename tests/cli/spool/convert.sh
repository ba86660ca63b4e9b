# what: convert writes run metadata and a graph, which answer as the recording does
# from: deviation: a command of ours
$TFPROF convert $DATA/small/train.tfspool --step-nvtx=pytorch -output run_meta:outfile=r 2>/dev/null
ls
$TFPROF scope --graph_path=r_graph.pb --run_meta_path=r_0 -select micros,device
rm r_*
