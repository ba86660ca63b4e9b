# what: nodes renamed by rules before they are matched
# from: deviation: the original compares nothing
. "${0%/*}/sides.inc"
$TFPROF diff old.pbtxt new.pbtxt -select params --rename 's/^gone/scope/' --rename 's/^fresh/scope/'
