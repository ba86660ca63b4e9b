# what: control bytes in names of files are escaped in errors, notes and sentences
# from: deviation: the original prints them as they are
ab=$(printf 'a\nb') pq=$(printf 'p\033\nq') to=$(printf 'r\ns/t') none=$(printf 'none\n.')
printf x >"$ab" && cp "$DATA/example/profile_100" "$pq"
t() {
	$TFPROF "$@" 2>&1 >/dev/null | grep -v '^Reading'
}
t op "$ab"
t op "$pq" "$ab"
t diff "$ab" "$pq"
t diff "$none" "$pq"
t report "$pq" -o "$to"
t baseline show "$ab"
t op "$pq" -output "csv:outfile=$to"
t op "$pq" -select "$to"
t op "$pq" "$none"
t "$none"
t devices "$none"
printf '\377\376[\0{\0' >"$pq" && t op "$pq"
rm "$ab" "$pq"
