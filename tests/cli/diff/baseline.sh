# what: named results: saved, listed, compared with, removed; no link is followed
# from: deviation: the original compares nothing
. "${0%/*}/sides.inc"
run() { $TFPROF "$@"; echo "$?"; }
run baseline list
run baseline save main old.pbtxt
run baseline save main old.pbtxt
cat .tfprof/baselines/main
run baseline list
run baseline show main
run diff baseline:main new.pbtxt -select params
run scope .tfprof/baselines/main -select params
run baseline save ../x old.pbtxt
run baseline save
run baseline show other
run diff baseline:other new.pbtxt
ln -s main .tfprof/baselines/link
run baseline save link old.pbtxt
run diff baseline:link new.pbtxt
run baseline remove link
rm .tfprof/baselines/link
run baseline remove main
run baseline list
run baseline save bad nowhere
rmdir .tfprof/baselines .tfprof
