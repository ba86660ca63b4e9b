# what: a step that is not there is named with those that are
# from: rule of the original
$TFPROF scope --profile_path="$DATA/recorded/synthetic_1/profile.pb" -step 7
