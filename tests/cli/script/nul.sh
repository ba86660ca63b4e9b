# what: a line with a NUL is refused whole, and never run up to it
# from: deviation: the original runs no programs and writes no files behind lines
printf 'node { name: "a" op: "A" }' >g
printf 'scope | cat\0x\nscope\0 -max_depth 1\nscope > a\0b\nscope -select occurrence -output csv\n\0\n' |
	$TFPROF --graph_path=g
status=$?
ls
rm g
exit $status
