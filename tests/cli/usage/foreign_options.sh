# what: -stats and -by are refused where no view shows them; options that were set stay for the views
# from: deviation: extensions
G=$DATA/small/views.graph.pbtxt
for c in advise 'convert -output profile:outfile=out' reset 'diff a b'; do
	$TFPROF $c $G -stats mean
	$TFPROF $c -by=worker $G
done
$TFPROF -stats mean advise $G
printf 'set -stats mean -by worker\nadvise\nadvise -stats n\n' | $TFPROF $G >/dev/null
