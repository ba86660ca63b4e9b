# what: a pattern that does not compile is a usage error with its position
# from: deviation: the original matches nothing and goes on
$TFPROF scope --profile_path="$DATA/recorded/synthetic_1/profile.pb" '-show_name_regexes' 'a(b'
