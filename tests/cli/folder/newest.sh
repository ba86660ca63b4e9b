# what: a folder of profiles is its newest one, by number; the steps of the others are there when asked for, and never in the average
# from: deviation: the original opens no folders
. "$DATA/small/jobs.sh"
profile d 9 1000 1 1
profile d 100 1000 10 20
profile d 200 1000 30 40
printf 'scope\nscope -step 100\nscope -step 9\nscope\nscope -step 9,200 -select micros -output csv\nscope -step 7\n' |
	$TFPROF --profile_path=d -max_depth 1 2>&1 | grep '^_TF\|step'
rows d scope -max_depth 1 -step 100
$TFPROF scope d/ -step 0..150 -output csv
rm -r d
