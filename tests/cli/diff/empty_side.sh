# what: a side without nodes is refused; status 1
# from: deviation: the original compares nothing
. "${0%/*}/sides.inc"
printf 'versions { producer: 1 }\n' >empty.pbtxt; $TFPROF diff old.pbtxt empty.pbtxt -select params
