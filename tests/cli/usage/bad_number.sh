# what: a number that overflows is refused
# from: deviation: usage errors end with status 2
$TFPROF scope --profile_path="$DATA/recorded/synthetic_1/profile.pb" -min_bytes 9223372036854775808
