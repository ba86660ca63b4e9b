# what: gates as annotations
# from: deviation: the original compares nothing
. "${0%/*}/sides.inc"
$TFPROF diff old.pbtxt new.pbtxt -output github --gate 'total.params<+5%' --gate 'scope:a/.*.params<+1k' 2>/dev/null
