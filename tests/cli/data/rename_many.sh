# what: the memory of renaming does not grow with the number of rules, whether they match or not
# from: deviation: the original shows names as they are
seq 2000 | sed 's/.*/node { name: "a&" op: "A" }/' >g
none=$(seq 400 | sed 's/.*/s,b&$,c&,/' | paste -sd';')
all=$(seq 400 | sed 's/.*/s,[a-z]*,b,/' | paste -sd';')
for rules in "$none" "$all"; do
	$TFPROF scope --graph_path=g --max-memory=20M -output md -select occurrence -rename "$rules" 2>&1 | tail -1
	$TFPROF diff g g --max-memory=40M --rename "$rules" -select occurrence >/dev/null 2>&1; echo $?
done
rm g
