# what: -h after any command prints at most 40 lines with at least one example; help COMMAND prints everything
# from: deviation: the original has no help for single commands
for c in $($TFPROF help commands | sed -n 's/^  \([a-z-]*\)  .*/\1/p'); do
	n=$($TFPROF $c -h | wc -l)
	[ "$n" -le 40 ] || echo "$c: $n lines"
	case $c in quit|exit) ;; *) $TFPROF $c -h | grep -q '^Examples' || echo "$c: no examples" ;; esac
done
$TFPROF kernels -h
