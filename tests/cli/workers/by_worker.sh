# what: columns for each worker, the slowest one and the spread, from a pattern that the shell did not see
# from: deviation: the original loads one profile
. "$DATA/small/jobs.sh"
profile job_2 100 1000 10 20
profile job_10 100 1000 40 0
profile job_1 100 1000 10 30
rows --profile_path='job_*/profile_100' scope -by worker
rows --profile_path='job_*' op -by worker -order_by micros
rows 'job_*' scope -by worker -select occurrence,params -max_depth 1
rows 'job_*' scope -max_depth 1
rm -r job_*
