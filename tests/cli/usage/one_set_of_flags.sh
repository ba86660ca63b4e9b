# what: -n and --top limit every command, -o writes a file whose name selects the type, options may precede the command
# from: deviation: the original has none of these options
p=$DATA/example/profile_100 t=$DATA/traces/trace.xplane.pb
$TFPROF op "$p" -q -n 2 -select micros -order_by micros
$TFPROF scope "$p" -q --top=3 -select micros -order_by micros
$TFPROF kernels "$t" -n 1
$TFPROF top "$p" --top 1
$TFPROF -n 1 top "$p"
$TFPROF --top=1 kernels "$t"
$TFPROF --table kernels devices "$t" | head -3
$TFPROF op "$p" -n 2 -select micros -order_by micros -output csv | wc -l
$TFPROF kernels "$t" -o k.csv && head -1 k.csv
$TFPROF kernels "$t" -n 1 -o k.txt && head -1 k.txt
$TFPROF kernels "$t" -output md -o k.x && head -1 k.x
$TFPROF scope "$p" -q -output pprof -o s.pb && ls s.pb
$TFPROF -V | head -1 | cut -d' ' -f1
rm -f k.csv k.txt k.x s.pb
