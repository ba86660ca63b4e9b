# what: files given without the original's flags are ordered by time; op prints a cumulative share only in an order by numbers
# from: deviation: the original orders by name
p=$DATA/example/profile_100
$TFPROF op "$p" -q -n 2 -select micros
$TFPROF code "$p" -q -n 3 -select micros 2>/dev/null
$TFPROF scope "$p" -q -n 3 -select micros 2>/dev/null
$TFPROF op "$p" -q -n 2 -select micros -order_by name
$TFPROF op --profile_path="$p" -select micros | sed -n "/^node name/,\$p" | head -3
