# what: output none prints nothing of the view and writes no file
# from: rule B§2.8
$TFPROF scope --profile_path="$DATA/recorded/synthetic_1/profile.pb" -output none
