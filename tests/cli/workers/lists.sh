# what: lists, repeated flags, words and patterns name the same workers
# from: deviation: the original takes the last of repeated flags, and no lists
. "$DATA/small/jobs.sh"
profile a 1 1000 10 20
profile b 1 1000 30 40
ask() { rows "$@" scope -by worker -max_depth 1 >>out; }
ask --profile_path=a/profile_1,b/profile_1
ask --profile_path=a/profile_1 --profile_path=b/profile_1
ask --profile_path='[ab]/profile_1'
ask a/profile_1 b/profile_1
ask 'a' 'b'
ask '[ab]'
sort out | uniq -c | sed 's/^ *//'
rm -r a b out
