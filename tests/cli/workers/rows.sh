# what: csv, ndjson and json have a row for each worker and path; md has columns
# from: deviation: the original has no such outputs
. "$DATA/small/jobs.sh"
profile a 1 1000 10 20
profile b 1 1000 30 0
for kind in csv ndjson md; do
	$TFPROF '[ab]' op -by worker -select cpu_micros -output $kind
done
$TFPROF '[ab]' scope -by worker -max_depth 1 -output json | grep '^"\(workers\|sources\|steps\)\|"worker"'
rm -r a b
