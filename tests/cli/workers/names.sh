# what: names are what differs in the paths, also by case alone; a file that is there is no pattern and no list
# from: deviation: the original loads one profile
. "$DATA/small/jobs.sh"
profile top/x/deep 1 1000 10 20
profile top/X/deep 1 1000 30 40
profile . 1 1000 5 5
mv profile_1 'p*,q'
rows 'top/*/deep' scope -by worker -max_depth 1
rows top/x/deep/profile_1 'p*,q' scope -by worker -max_depth 1
rows --profile_path='p*,q' scope -max_depth 1
rm -r top 'p*,q'
