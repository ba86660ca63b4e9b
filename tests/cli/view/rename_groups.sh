# what: op types that -rename makes equal are one row, in every output; the sums do not change
# from: deviation: the original has no such option
p=$DATA/example/profile_100
for rules in 's/x/x/' 's/^Conv2D.*/Conv2D/' 's/.*/all/'; do
	$TFPROF op $p -q -rename "$rules" -select occurrence -output csv | tail -n +2 | grep -c .
done
$TFPROF op $p -q -rename 's/^Conv2D.*/Conv2D/' -select micros | grep Conv2D
$TFPROF op $p -q -rename 's/.*/all/' -select micros -output ndjson | grep -o '"path":"all"'
