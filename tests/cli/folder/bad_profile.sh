# what: a newest profile that cannot be parsed is refused, the older ones stand in for nothing; status 3
# from: deviation: the original opens no folders
. "$DATA/small/jobs.sh"
profile d 100 1000 10 20
printf '\377\377' >d/profile_200
$TFPROF d scope
status=$?
rm -r d
exit $status
