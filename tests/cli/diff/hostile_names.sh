# what: a name stays on its line and begins no command of a workflow
# from: deviation: the original compares nothing
printf 'node { name: "c\\n::error title=x::y" op: "VariableV2" attr { key: "shape" value { shape { dim { size: 9 } } } } }\n' >a.pbtxt
printf 'node { name: "c\\n::error title=x::y" op: "VariableV2" attr { key: "shape" value { shape { dim { size: 4 } } } } }\n' >b.pbtxt
$TFPROF diff a.pbtxt b.pbtxt -select params
$TFPROF diff b.pbtxt a.pbtxt -output github --gate 'scope:(?s)c.*.params<+1'
status=$?
rm *.pbtxt
exit $status
