# what: a profile holds one worker
# from: deviation: the original loads one profile
. "$DATA/small/jobs.sh"
profile a 1 1000 10 20
profile b 1 1000 30 40
$TFPROF '[ab]' convert -output profile:outfile=p
status=$?
rm -r a b
exit $status
