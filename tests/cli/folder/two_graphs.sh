# what: of two graphs in a folder the first by name is taken, which a note says
# from: deviation: the original opens no folders
. "$DATA/small/jobs.sh"
job d 1 1000 10 20
echo 'node { name: "other" op: "NoOp" }' >d/graph.pb
rows d scope
rm -r d
