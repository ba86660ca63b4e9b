# what: a newest profile that is empty or has no steps is named
# from: deviation: the original opens no folders
. "$DATA/small/jobs.sh"
profile d 100 1000 10 20
profile d 200 1000 10 20
$TFPROF convert "$DATA/small/views.graph.pbtxt" -output profile:outfile=none 2>/dev/null
for f in /dev/null none d/profile_200; do
	cat $f >d/profile_300
	printf 'scope\nscope -step 100\n' | $TFPROF --profile_path=d -max_depth 1 2>&1 | grep '^_TF\|note'
done
mkdir e
: >e/profile_1
$TFPROF scope e
$TFPROF scope d e -max_depth 1 | tail -1
$TFPROF scope e/profile_1
rm -r d e none
