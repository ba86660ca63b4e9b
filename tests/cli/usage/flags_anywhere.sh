# what: flags may stand before and after the command, as --name value, --name=value and -name value
# from: deviation: the original takes --name=value alone and looks for the command first
$TFPROF --profile_path "$DATA/recorded/synthetic_1/profile.pb" --max_depth=1 scope -select params >a &&
	$TFPROF scope -select=params -max_depth 1 \
		--profile_path="$DATA/recorded/synthetic_1/profile.pb" >b &&
	cmp a b && cat a && rm a b
