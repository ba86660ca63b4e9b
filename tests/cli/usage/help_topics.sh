# what: help knows the words that options take, too: metrics, outputs, statistics; and options with their dashes
# from: deviation: the original has no help on words
$TFPROF help params occurrence device timeline csv none cv --guess-steps -quiet && $TFPROF help timelin
