# what: graph leaves out what only a cycle leads to, as the original does, and notes how much, unless the original knows the words
# from: deviation: notes are ours
cat > cycles.pbtxt <<'END'
node { name: "a" op: "Op" input: "b" }
node { name: "b" op: "Op" input: "a" }
node { name: "c" op: "Op" }
END
$TFPROF graph cycles.pbtxt -select op_types
$TFPROF graph --graph_path=cycles.pbtxt -select op_types
