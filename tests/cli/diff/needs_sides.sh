# what: diff without its sides names what is loaded; words that are neither files nor jobs are named
# from: deviation: the original compares nothing
. "${0%/*}/sides.inc"
printf 'diff\ndiff op\n' | $TFPROF old.pbtxt
printf 'load second=new.pbtxt\ndiff\ndiff second\ndiff third old.pbtxt\n' | $TFPROF old.pbtxt
