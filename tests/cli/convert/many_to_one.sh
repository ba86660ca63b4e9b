# what: convert makes one ProfileProto of graph, steps and op log, and it answers what they answered
# from: rule of the original
in="--graph_path=$DATA/recorded/mlp_0/graph.pb --run_meta_path=$DATA/recorded/mlp_0/run_meta_0.pb,$DATA/recorded/mlp_0/run_meta_1.pb --op_log_path=$DATA/recorded/mlp_0/op_log.pb"
$TFPROF convert $in -output profile:outfile=p.pb 2>/dev/null || exit 1
for view in 'scope -step 1' graph 'code -max_depth 30' op; do
	words="$view -select micros,bytes,params,float_ops,device,op_types,occurrence,input_shapes"
	$TFPROF $words $in -output file:outfile=many >/dev/null
	$TFPROF $words --profile_path=p.pb -output file:outfile=one >/dev/null
	cmp many one && wc -l <many && rm many one
done
$TFPROF convert --profile_path=p.pb -output profile:outfile=q.pb 2>/dev/null
$TFPROF convert --profile_path=q.pb -output profile:outfile=r.pb 2>/dev/null
cmp q.pb r.pb && rm p.pb q.pb r.pb
