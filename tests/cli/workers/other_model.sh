# what: a worker with no node in common with the others is refused; status 1
# from: deviation: the original loads one profile
. "$DATA/small/jobs.sh"
job a 1 1000 10 20
mkdir b
echo 'node { name: "tower/conv" op: "Conv2D" }' >b/graph.pbtxt
$TFPROF '[ab]' scope
status=$?
rm -r a b
exit $status
