# what: an unknown command is a usage error
# from: deviation: the original starts its prompt
$TFPROF scpoe --profile_path="$DATA/recorded/synthetic_1/profile.pb"
