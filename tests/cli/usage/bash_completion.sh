# what: in bash, words behind a command are completed by what the command takes, topics behind help
# from: deviation: the original has no completion
cat >try <<'END'
compopt() { :; }
. "$1/../docs/completion/tfprof.bash"
try()
{
	COMP_LINE="tfprof $*" COMPREPLY=()
	COMP_POINT=${#COMP_LINE}
	_tfprof
	echo "$* => ${COMPREPLY[*]}"
}
try sco
try scope --he
try scope -select bytes,mic
try scope -output pp
try scope -output pprof:out
try top -by mod
try record --level=la
try record --he
try record --g
try diff --g
try diff --he
try gpu --t
try devices -t
try ./some.file devices --to
try kernels --to
try steps --top=
try top -b
try help mic
try help time
try help p9
try help -ba
try ctl run1 st
try ctl run1 stop --
try baseline s
END
touch some.file
bash try "$DATA"
rm try some.file
