# what: what load and use refuse leaves everything as it was; outside of lines they are refused
# from: deviation: the original holds one profile
. "$DATA/small/jobs.sh"
profile a 1 1000 10 20
printf '%s\n' load 'load x=nothere' 'load x=[xyz]' 'load a=a' 'load x=a -max_depth 3' 'load x=-' use 'use b c' \
	'use aa' 'use nothing' 'load --graph_path=a/profile_1' 'load x=a --run_meta_path=b' list | $TFPROF a
echo $?
$TFPROF load x=a
echo $?
$TFPROF list
rm -r a
