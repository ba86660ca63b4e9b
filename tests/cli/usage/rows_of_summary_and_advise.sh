# what: -n limits the tables of summary and the lists of advise and diff
# from: deviation: the original has no such commands or option
p=$DATA/example/profile_100
$TFPROF summary -n 1 $p | grep -c '^ *[0-9.]*ms'
$TFPROF summary -n 0 $p | grep -c input/
$TFPROF advise -n 1 $p | grep '^top'
$TFPROF diff -all -n 2 $p $DATA/example/profile_200
