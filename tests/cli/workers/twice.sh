# what: the same file twice is taken once, which a note says
# from: deviation: the original loads one profile
. "$DATA/small/jobs.sh"
profile a 1 1000 10 20
profile b 1 1000 30 40
rows a ./a b/../a/profile_1 b a/profile_1 scope -by worker -max_depth 1
rm -r a b
