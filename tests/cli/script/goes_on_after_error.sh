# what: piped lines go on after one that fails, and the whole ends with 1
# from: deviation: what fails says so in the exit status
$TFPROF --profile_path="$DATA/recorded/synthetic_1/profile.pb"
