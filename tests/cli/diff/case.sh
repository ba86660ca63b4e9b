# what: names that differ only in case are different nodes, which is said
# from: deviation: the original compares nothing
. "${0%/*}/sides.inc"
sed 's/late/Late/' old.pbtxt >other.pbtxt && $TFPROF diff old.pbtxt other.pbtxt -select params
