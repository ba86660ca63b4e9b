# what: loaded jobs and their steps are sides, also the current job on both sides
# from: deviation: the original compares nothing
. "${0%/*}/sides.inc"
V=$DATA/small/views.graph.pbtxt,$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt
$TFPROF old.pbtxt >out 2>err <<END
load b=new.pbtxt
diff old.pbtxt b -select params -max_depth 2
diff b old.pbtxt -select params -max_depth 1
load v=$DATA/small/views.graph.pbtxt $DATA/small/views.run_meta_0.pbtxt $DATA/small/views.run_meta_1.pbtxt
diff v@0 v@1 -max_depth 2
diff v@fastest v@slowest -max_depth 1
use b
diff v@9 v
END
sed -n '/Comparing/,$p' out; cat err; rm out err
