# what: a ProfileProto gives the same view as the files it was made of
# from: rule of the original
P=$DATA/recorded/synthetic_1
view='-max_depth 100 -select micros,bytes,params,float_ops,occurrence,op_types,device'
$TFPROF scope --graph_path="$P/graph.pb" --run_meta_path="$P/run_meta_0.pb" \
	--op_log_path="$P/op_log.pb" $view -output file:outfile=inputs >/dev/null &&
	$TFPROF scope --profile_path="$P/profile.pb" $view -output file:outfile=profile >/dev/null &&
	cmp inputs profile && wc -l <inputs && rm inputs profile
