# what: one input may be -, compressed or not
# from: deviation: the original reads files only
$TFPROF scope --profile_path=- -max_depth 1 <"$DATA/recorded/synthetic_1/profile.pb" >a &&
	gzip -c "$DATA/recorded/synthetic_1/profile.pb" | $TFPROF scope --profile_path=- -max_depth 1 >b &&
	$TFPROF scope --profile_path="$DATA/recorded/synthetic_1/profile.pb" -max_depth 1 >c &&
	cmp a b && cmp b c && tail -n 1 a && rm a b c
