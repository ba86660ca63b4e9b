# what: a recorded training step by ranges: kernels below the operations that launched them
# from: deviation: an input that the original does not know
$TFPROF $DATA/small/train.tfspool scope -select micros,occurrence,device,op_types
