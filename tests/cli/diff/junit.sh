# what: gates as a JUnit report in a file
# from: deviation: the original compares nothing
. "${0%/*}/sides.inc"
$TFPROF diff old.pbtxt new.pbtxt -output junit:outfile=report.xml --gate 'total.params<+5%' --gate 'scope:a/.*.params<+1k' 2>/dev/null
