# what: the memory of a comparison does not grow with the number of gates
# from: deviation: the original compares nothing
seq 2000 | sed 's/.*/node { name: "a&" op: "A" attr { key: "shape" value { shape { dim { size: 9 } } } } }/' >g
$TFPROF diff g g --max-memory=20M $(seq 100 | sed 's/.*/--gate total.params<+&/') \
	$(seq 100 | sed 's/.*/--gate scope:a&.params<+1/') >out 2>&1
echo "status $?"
sort out | sed 's/[0-9][0-9]*/N/g' | uniq -c | sed 's/^ *//'
rm g out
