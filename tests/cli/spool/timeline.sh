# what: a timeline of a recording: the device, all its streams and the one
# from: deviation: an input that the original does not know
$TFPROF graph --spool=$DATA/small/train.tfspool -step 0 -output timeline:outfile=t >/dev/null
