# what: a graph alone has TensorFlow's statistics; --assume_batch gives an unknown first dimension; with the original's flags, none
# from: deviation: the original needs an op log
node() {
	printf 'node { name: "%s" op: "%s" %s attr { key: "_output_shapes" value { list { shape { dim { size: %s } dim { size: %s } } } } } }\n' "$@"
}
{
	node x Placeholder '' -1 4
	node w Const '' 4 5
	node p MatMul 'input: "x" input: "w"' -1 5
	node n Neg 'input: "w"' 4 5
} >graph.pbtxt
$TFPROF scope graph.pbtxt -select float_ops
$TFPROF scope graph.pbtxt -select float_ops --assume_batch=3
$TFPROF scope --graph_path=graph.pbtxt -select float_ops
rm graph.pbtxt
