# what: help knows the words that options take, too: metrics, outputs, statistics
# from: deviation: the original has no help on words
$TFPROF help params occurrence device timeline csv none cv && $TFPROF help timelin
