# what: in lock-step, workers without the step are said and have no numbers
# from: deviation: the original loads one profile
. "$DATA/small/jobs.sh"
job a 1 1000 10 20
job a 2 2000 11 21
job b 2 2000 50 60
job c 7 2010 70 80
rows '[abc]' scope -by worker -step 2
rows '[abc]' scope -by worker -step 1,2 -max_depth 1
rows '[abc]' scope -by worker -max_depth 1
rows '[abc]' scope -max_depth 1
rows '[abc]' scope -max_depth 1 -step 2
$TFPROF '[abc]' scope -step 5
rm -r a b c
