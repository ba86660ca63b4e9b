# what: one bad file among many is named, and ends the load; status 3
# from: deviation: the original loads one profile
. "$DATA/small/jobs.sh"
profile a 1 1000 10 20
profile b 1 1000 10 20
mkdir c d
printf '\377\377' >c/profile_1
printf '\377\377' >d/profile_1
$TFPROF '[abcd]' scope
status=$?
rm -r a b c d
exit $status
