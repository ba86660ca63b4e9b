# what: files that are no spools, and one of a later version
# from: deviation: an input that the original does not know
echo text >a.tfspool
$TFPROF scope a.tfspool
$TFPROF scope --spool=missing.tfspool
rm a.tfspool
