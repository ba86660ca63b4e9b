# what: a file, written whole; standard output stays empty; a file of before is forgotten
# from: deviation: an extension
printf 'set -output file:outfile=old.txt\nscope -select micros -max_depth 1 -output csv:outfile=rows.csv\nscope -select micros -max_depth 1 -output csv\n' |
	$TFPROF --graph_path=$DATA/small/views.graph.pbtxt
