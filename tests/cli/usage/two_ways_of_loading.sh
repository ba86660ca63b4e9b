# what: a profile and its parts together are refused
# from: deviation: a usage error ends with status 2 and names the program
$TFPROF scope --profile_path="$DATA/recorded/synthetic_1/profile.pb" \
	--graph_path="$DATA/recorded/synthetic_1/graph.pb"
