# what: other names in every output; patterns and order see the true ones
# from: deviation: the original shows names as they are
V="--graph_path=$DATA/small/views.graph.pbtxt --run_meta_path=$DATA/small/views.run_meta_0.pbtxt"
R='-rename s/^net/n/;s/([a-z])[a-z]*$/\1./'
{
$TFPROF scope $V -show_name_regexes 'net.*' "${R%% *}" "${R#* }" -output md
$TFPROF scope $V "${R%% *}" "${R#* }" -select micros | sed -n '/^_TFProfRoot/,$p'
$TFPROF graph $V "${R%% *}" "${R#* }" -output csv -max_depth 4
$TFPROF op $V -rename 's/MatMul/mm/' -output ndjson
$TFPROF graph $V -step 0 -max_depth 100 -rename 's/^/X:/' -output timeline:outfile=t
} 2>/dev/null
grep -o '"name": *"X:[^"]*"' t_0 | sort -u | head -3
rm t_0
$TFPROF scope $V -rename 's/(/x/' -output none 2>&1 >/dev/null | tail -1
