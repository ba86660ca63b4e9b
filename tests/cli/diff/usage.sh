# what: wrong words end with status 2, missing files with 3
# from: deviation: the original compares nothing
. "${0%/*}/sides.inc"
try() { $TFPROF diff "$@"; echo "$?"; }
try
try old.pbtxt
try old.pbtxt nowhere
try old.pbtxt new.pbtxt a
try old.pbtxt new.pbtxt same same
try old.pbtxt new.pbtxt --delta much
try old.pbtxt new.pbtxt --min_size 3parsecs
try old.pbtxt new.pbtxt --per node
try old.pbtxt new.pbtxt --view tree
try old.pbtxt new.pbtxt --match maybe
try old.pbtxt new.pbtxt --level 1
try old.pbtxt new.pbtxt --gat 1
try old.pbtxt new.pbtxt --delta
try old.pbtxt new.pbtxt --rename s/a/b
try old.pbtxt new.pbtxt --gate total.params
try old.pbtxt new.pbtxt -select device
try old.pbtxt new.pbtxt -select params -output pprof:outfile=p
try code old.pbtxt new.pbtxt
try old.pbtxt,nowhere new.pbtxt
$TFPROF scope old.pbtxt -output junit
echo $?
