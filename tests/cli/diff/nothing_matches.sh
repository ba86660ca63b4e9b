# what: nothing in common: said, with the likeliest reason; status 1
# from: deviation: the original compares nothing
. "${0%/*}/sides.inc"
sed 's/name: "/&model\//' old.pbtxt >other.pbtxt && $TFPROF diff old.pbtxt other.pbtxt -select params --match path
status=$?
sed 's/name: "\(.\)/name: "X\1/' old.pbtxt >other.pbtxt
$TFPROF diff old.pbtxt other.pbtxt -select params --match path
sed 's/"a\//"A\//;s/gone/Gone/;s/late/LATE/' old.pbtxt >other.pbtxt
$TFPROF diff old.pbtxt other.pbtxt -select params --match path
exit $status
