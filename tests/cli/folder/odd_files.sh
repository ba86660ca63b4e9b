# what: of the files in a folder those count that have a number and bytes that stay: no pipe, no device, no folder
# from: deviation: the original opens no folders
. "$DATA/small/jobs.sh"
profile d 100 1000 10 20
cp d/profile_100 d/profile_
cp d/profile_100 d/profile_abc
cp d/profile_100 d/profile_-1
cp d/profile_100 d/profile_99999999999999999999
mkfifo d/profile_200
ln -s /dev/zero d/profile_300
ln -s . d/profile_400
mkdir d/profile_500
rows d scope
$TFPROF d scope -max_depth 1 -output csv -select micros
ln -s profile_600 d/profile_600
$TFPROF scope d
rm -r d
