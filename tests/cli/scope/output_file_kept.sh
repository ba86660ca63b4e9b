# what: an output file that cannot be written is named, and an old one beside it stays
# from: deviation: what fails says so in the exit status
echo old >view
$TFPROF scope --profile_path="$DATA/recorded/synthetic_1/profile.pb" -output file:outfile=no/such/view
