# what: an output that cannot be written is refused before anything is read
# from: deviation: the original converts nothing
touch full
for to in profile run_meta; do
	$TFPROF convert "$DATA/small/views.graph.pbtxt" -output $to:outfile=none/out
	echo $?
	$TFPROF convert "$DATA/small/views.graph.pbtxt" -output $to:outfile=full/out
	echo $?
done
$TFPROF convert "$DATA/small/views.graph.pbtxt" -output profile:outfile=.
rm full
