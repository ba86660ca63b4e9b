# what: nodes that one worker alone has are there with its numbers
# from: deviation: the original loads one profile
. "$DATA/small/jobs.sh"
job a 1 1000 10 20
job b 1 1000 30 40
echo 'node { name: "in/only" op: "Conv2D" input: "in/b" }' >>b/graph.pbtxt
rows '[ab]' scope -by worker -select micros,op_types
rows '[ab]' graph -max_depth 4
rm -r a b
