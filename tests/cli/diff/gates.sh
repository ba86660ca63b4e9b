# what: a gate that fails ends with status 1 and says which nodes it was
# from: deviation: the original compares nothing
. "${0%/*}/sides.inc"
$TFPROF diff old.pbtxt new.pbtxt -output none --gate 'total.params<+5%' --gate 'scope:a/.*.params<+1k' --gate 'op:VariableV2.params<=+593' --gate 'scope:nobody.params<1' --gate 'scope:.*/v.params<+1'
