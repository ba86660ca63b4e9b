# what: output none prints nothing of the view and writes no file
# from: rule of the original
$TFPROF scope --profile_path="$DATA/recorded/synthetic_1/profile.pb" -output none
