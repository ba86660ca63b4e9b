# what: names in the summary cannot steer a terminal
# from: deviation: the original has no summary
printf 'node { name: "a" op: "B\\033[2J" }' >g.pbtxt
$TFPROF --color=always --graph_path=g.pbtxt </dev/null | grep 100.00
rm g.pbtxt
