# what: a GPU is not busy for more than all of the time; rows without time are left out, unless the original knows the words
# from: deviation: the original prints the own times of scopes, which are 0 (quirk 26)
$TFPROF advise "$DATA/example/profile_100"
$TFPROF advise --profile_path="$DATA/example/profile_200"
