# what: one process a side
# from: deviation: the original compares nothing
. "${0%/*}/sides.inc"
$TFPROF diff old.pbtxt new.pbtxt -select params -output timeline:outfile=trace.json
