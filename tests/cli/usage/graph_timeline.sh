# what: the timeline of a ProfileProto's graph has its nodes; an empty one is named in a note
# from: deviation: the original's profiles have no hosts, and its timeline of them is empty
p=$DATA/example/profile_100
$TFPROF graph "$p" -q -step 0 -output timeline:outfile=t.json >/dev/null && grep -c '"ph":"X"' t.json
$TFPROF graph "$p" -q -step 0 -show_name_regexes nothing -output timeline:outfile=t.json 2>&1 >/dev/null | grep empty
$TFPROF graph --profile_path="$p" -step 0 -output timeline:outfile=t.json >/dev/null && cat t.json
rm -f t.json
