# what: a folder with nothing in it is no input; status 3
# from: deviation: the original opens no folders
mkdir d
$TFPROF scope --profile_path=d
status=$?
rmdir d
exit $status
