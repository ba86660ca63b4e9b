# what: run metadata beside a profile adds the steps that no profile has
# from: deviation: the original opens no folders
. "$DATA/small/jobs.sh"
profile d 100 1000 10 20
job e 100 1000 77 77
job e 150 1000 50 60
mv e/run_meta_* d
rows d scope -max_depth 1
rows d scope -max_depth 1 -step 150
rows d scope -max_depth 1 -step 100
$TFPROF convert d -output profile:outfile=all
echo 'scope -step 1' | $TFPROF all
rm -r d e all
