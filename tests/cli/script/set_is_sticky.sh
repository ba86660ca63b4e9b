# what: set changes what later lines start from, an option on a line does not; an empty line shows them
# from: rule of the original
$TFPROF --profile_path="$DATA/recorded/synthetic_1/profile.pb"
