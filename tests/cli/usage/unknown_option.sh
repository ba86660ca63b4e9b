# what: an unknown option is a usage error that names the nearest known one
# from: deviation: the original ignores unknown words
$TFPROF scope --profile_path="$DATA/recorded/synthetic_1/profile.pb" -min_bites 3
