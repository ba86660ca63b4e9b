# what: a timeline of a recording: its threads with ranges and calls, its streams, and its steps
# from: deviation: an input that the original does not know
$TFPROF graph --spool=$DATA/small/train.tfspool -step 0 -output timeline:outfile=t >/dev/null
