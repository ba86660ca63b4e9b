# what: a timeline of a recording: threads with ranges and calls, streams, and steps
# from: deviation: an input that the original does not know
$TFPROF graph --spool=$DATA/small/train.tfspool -step 0 -output timeline:outfile=t >/dev/null
