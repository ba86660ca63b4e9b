# what: load takes flags before and behind NAME=FILE
# from: deviation: the original holds one profile
G=$DATA/recorded/mlp_0/graph.pb
head -c 500 "$G" >cut
printf '%s\n' 'load new=cut' 'load --recover new=cut' "load --graph_path $G old=$DATA/recorded/mlp_0/run_meta_0.pb" \
	"load x=$G --recover" "load --color=never $G" list | $TFPROF "$DATA/small/views.graph.pbtxt"
echo $?
rm cut
