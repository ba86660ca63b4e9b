# what: -by worker needs workers; status 1
# from: deviation: the original loads one profile
$TFPROF "$DATA/recorded/queue_0/profile.pb" scope -by worker
