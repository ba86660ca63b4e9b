# what: a folder is no input; status 3
# from: deviation: what cannot be read ends with status 3
mkdir d
$TFPROF scope --profile_path=d
status=$?
rmdir d
exit $status
