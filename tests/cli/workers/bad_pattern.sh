# what: a pattern of workers that is none is said, at a column
# from: deviation: the original loads one profile
. "$DATA/small/jobs.sh"
profile a 1 1000 10 20
profile b 1 1000 30 40
$TFPROF '[ab]' scope -worker_regexes 'a,('
echo $?
rm -r a b
