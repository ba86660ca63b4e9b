# what: an older profile that cannot be parsed is said when it is needed, and not before
# from: deviation: the original opens no folders
. "$DATA/small/jobs.sh"
profile d 200 1000 10 20
printf '\377\377' >d/profile_100
rows d scope -max_depth 1
$TFPROF d scope -step 100
status=$?
rm -r d
exit $status
