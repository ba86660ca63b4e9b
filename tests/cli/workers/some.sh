# what: -worker_regexes takes some workers; -max_workers limits the columns to those with the most
# from: deviation: the original loads one profile
. "$DATA/small/jobs.sh"
for i in 1 2 3 4 5 6 7 8 9 10; do
	profile w$i 1 1000 $((i * 7 % 11)) 1
done
rows 'w*' scope -by worker -max_depth 1
rows 'w*' scope -by worker -max_depth 1 -max_workers 2
rows 'w*' scope -by worker -max_depth 1 -max_workers 0
rows 'w*' scope -by worker -max_depth 1 -worker_regexes 'w1,w1.'
$TFPROF 'w*' scope -worker_regexes none
status=$?
rm -r w*
exit $status
