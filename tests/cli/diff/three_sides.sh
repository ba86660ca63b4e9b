# what: more than two sides: the first without the last
# from: deviation: the original compares nothing
. "${0%/*}/sides.inc"
$TFPROF diff old.pbtxt new.pbtxt old.pbtxt --names a,b,c -select params -output legacy
