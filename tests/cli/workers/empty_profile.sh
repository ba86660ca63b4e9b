# what: of workers, a profile that is an empty file is named
# from: deviation: an extension
$TFPROF convert --graph_path=$DATA/small/views.graph.pbtxt --run_meta_path=$DATA/small/views.run_meta_0.pbtxt \
	-output profile:outfile=w1 >convert.out
: >w2
mkdir d1 d2
cp w1 d1/profile_1
: >d2/profile_1
$TFPROF 'w*' scope -max_depth 1 -select micros -output csv
$TFPROF d1 d2 scope -max_depth 1 -select micros -output csv
rm -r w1 w2 d1 d2 convert.out
