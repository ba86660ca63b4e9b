# what: a folder without a profile is its graph and all its steps, by their numbers; lazy or not
# from: deviation: the original opens no folders
. "$DATA/small/jobs.sh"
job d 3 1000 10 20
job d 12 2000 30 40
gzip d/run_meta_3
: >d/events.out.tfevents
rows d scope
rows d scope -step 12 -max_depth 1
rows --profile_path=d --lazy-steps scope -step 3 -max_depth 1
$TFPROF d scope -step 4
$TFPROF d convert -output profile:outfile=p
rows p scope -step 12 -max_depth 1
rm -r d p
