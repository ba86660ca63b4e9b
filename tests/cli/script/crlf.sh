# what: a script that begins with a byte order mark, and whose lines end in carriage return and newline, runs as any other
# from: deviation: the original took the carriage return for a part of the last word
printf '\357\273\277scope -max_depth 1 -select params\r\nop -max_depth 0 -select params\r\n' |
	$TFPROF --graph_path=$DATA/recorded/synthetic_1/graph.pb | tail -n +3
