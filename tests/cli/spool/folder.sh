# what: a session's folder: without spools, with processes that were not chosen
# from: deviation: an input that the original does not know
mkdir empty full
touch empty/options
$TFPROF scope empty
cp $DATA/small/train.tfspool full
$TFPROF scope full --process=1
$TFPROF scope full --process=1 --job=a
$TFPROF scope full --job=a
$TFPROF scope --spool=-
rm -r empty full
