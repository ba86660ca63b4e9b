# what: each kind of topic that help names is a topic itself, and lists its own
# from: deviation: the original has no help on words
$TFPROF help metrics statistics outputs && $TFPROF help commands flags options all | grep -E '^[A-Z]|^  (scope|--recording|-max_depth)' &&
	$TFPROF help metr
