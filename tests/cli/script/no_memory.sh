# what: a line that ends at the limit of memory leaves no descriptor and no program behind, and the next ones work
# from: deviation: the original has no limit, no programs behind lines and no files
seq 40000 | sed 's/.*/node { name: "a&" op: "A" }/' >g
printf '%s\n' 'cat >all; n=$(ls /proc/$PPID/fd | wc -l); echo "$(wc -l <all) lines, $((n - $(cat n 2>/dev/null || echo $n))) more descriptors"; echo $n >n' >count
printf '%s\n' 'set -step | sh count' 'scope -max_depth 9 >> out' 'scope -max_depth 9 | cat' 'scope -max_depth 9 > file' 'set -step | sh count' |
	$TFPROF --graph_path=g --max-memory=20M
ls
rm g count all n out
