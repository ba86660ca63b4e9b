# what: the code view of a recording: ranges as a call stack
# from: deviation: an input that the original does not know
$TFPROF code --spool=$DATA/small/train.tfspool
