# what: by time, the steps that run while the first worker's step does belong to it
# from: deviation: the original loads one profile
. "$DATA/small/jobs.sh"
job a 1 1000 10 20
job a 2 2000 11 21
job b 5 1005 50 60
job b 6 2005 51 61
job c 7 9000 70 80
rows '[abc]' scope -by worker -align time -step 2
rows '[abc]' scope -by worker -align time -step 1..2 -max_depth 1
rm -r a b c
