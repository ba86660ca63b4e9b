# what: the graph view of a recording: nodes without edges, largest first
# from: deviation: an input that the original does not know
$TFPROF --spool=$DATA/small/train.tfspool graph -order_by micros -select micros
