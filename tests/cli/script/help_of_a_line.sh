# what: --help or -h in a line is the help of its command, as on the command line; alone it is all of it
# from: deviation: the original knows no such option
profile=$DATA/recorded/synthetic_1/profile.pb
same()
{
	printf '%s\n' "$1" | $TFPROF "$profile" | tail -n +2 | cmp - shown && echo "$1"
}
for command in scope diff checkpoint record help; do
	$TFPROF $command --help >shown
	same "$command --help"
	same "$command -h"
done
$TFPROF scope --help >shown
same 'scope -max_depth 3 --help'
$TFPROF --help >shown
same --help
rm shown
