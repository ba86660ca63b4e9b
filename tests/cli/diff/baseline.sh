# what: named results: saved, listed, compared with, removed; no link is followed
# from: deviation: the original compares nothing
. "${0%/*}/sides.inc"
run() { $TFPROF "$@"; echo "$?"; }
stable() { sed -E "s/$(hostname)/HOST/g; s/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}/DATE TIME       /"; }
run baseline list
run baseline save main old.pbtxt
run baseline save main old.pbtxt
grep -v "^end" .tfprof/baselines/main | stable
run baseline list | stable | tr -s " "
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
