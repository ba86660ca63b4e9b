# what: what is new, gone or had nothing is said in words, never as a number
# from: deviation: the original compares nothing
. "${0%/*}/sides.inc"
$TFPROF diff old.pbtxt new.pbtxt -select params && $TFPROF diff old.pbtxt new.pbtxt -select params --swap
