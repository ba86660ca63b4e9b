# what: - alone and a named pipe are a profile or a trace, compressed or not
# from: deviation: the original reads files only
trace=$DATA/traces/trace.xplane.pb profile=$DATA/recorded/synthetic_1/profile.pb
for f in "$trace" "$profile"; do
	$TFPROF "$f" op -select micros >a &&
		cat "$f" | $TFPROF - op -select micros >b && cmp a b &&
		gzip -c "$f" | $TFPROF op - -select micros >b && cmp a b &&
		$TFPROF - op -select micros <"$f" >b && cmp a b || exit 1
done
mkfifo pipe && cat "$trace" >pipe &
while [ ! -p pipe ]; do :; done
$TFPROF kernels pipe --top=1 && rm a b pipe
