# what: kernels as operation types; --leaf=op makes operations of the framework of them
# from: deviation: an input that the original does not know
$TFPROF op --spool=$DATA/small/train.tfspool -order_by micros -select micros,occurrence
$TFPROF op --spool=$DATA/small/train.tfspool --leaf=op -order_by micros -select micros,occurrence 2>/dev/null
