# what: a timeline of the graph is one file for each worker and step
# from: deviation: the original loads one profile
. "$DATA/small/jobs.sh"
profile top/a/x 1 1000 10 20
profile top/b/y 1 1000 30 40
$TFPROF 'top/*/*' graph -step 1 -output timeline:outfile=t >/dev/null
ls t_*
grep -c 'in/a' t_*
rm -r top t_*
