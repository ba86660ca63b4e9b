# what: jobs beside each other in one script: load, list, use; options stay set
# from: deviation: the original holds one profile
. "$DATA/small/jobs.sh"
profile a 1 1000 10 20
profile b 1 1000 30 40
profile c 1 1000 50 60
printf '%s\n' list 'load new=b' 'set -max_depth 1 -select cpu_micros' scope 'use a' scope 'load all=[abc]' list \
	'use new' 'load c/profile_1 --max-memory=1G' "load q='[ab]'" "load --profile_path='[bc]'" list quit | $TFPROF a | grep -v '^$\|^Doc\|^scope:\|^cpu\|^Prof'
rm -r a b c
