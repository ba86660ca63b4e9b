# what: in rows of a worker statistics are over its own steps, as if its file were alone
# from: deviation: the original loads one profile
. "$DATA/small/jobs.sh"
job a 1 1000 10 20
job a 2 1000 30 20
job b 1 1000 70 0
for kind in csv ndjson; do
	$TFPROF '[ab]' scope -by worker -stats mean,max,n -select cpu_micros -output $kind 2>/dev/null
done
for x in a b; do
	$TFPROF $x scope -stats mean,max,n -select cpu_micros -output csv 2>/dev/null
done
rm -r a b
