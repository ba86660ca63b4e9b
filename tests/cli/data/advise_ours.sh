# what: files without flags: also the hottest scopes and nodes, and what made a step slow
# from: deviation: the original has three checkers
$TFPROF advise $DATA/small/views.graph.pbtxt $DATA/small/views.run_meta_0.pbtxt $DATA/small/views.run_meta_1.pbtxt | sed -n '/^HottestChecker/,$p'
$TFPROF advise $DATA/small/views.graph.pbtxt $DATA/small/views.run_meta_0.pbtxt -output csv | grep -c HottestChecker
