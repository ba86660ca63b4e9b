# what: a folder of folders says how to take each as a worker
# from: deviation: the original opens no folders
. "$DATA/small/jobs.sh"
job d/w 1 1000 1 1
$TFPROF scope d
status=$?
rm -r d
exit $status
