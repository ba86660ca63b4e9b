# what: a step that is not there is named with those that are
# from: rule B§2.7
$TFPROF scope --profile_path="$DATA/recorded/synthetic_1/profile.pb" -step 7
