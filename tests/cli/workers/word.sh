# what: -by and -align take the words of the table
# from: deviation: the original has no such options
$TFPROF "$DATA/recorded/queue_0/profile.pb" scope -by job
echo $?
$TFPROF "$DATA/recorded/queue_0/profile.pb" scope -align date
