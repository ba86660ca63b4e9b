# what: more than two sides: the first without the last
# from: deviation: the original compares nothing
cat >old.pbtxt <<'END'
node { name: "a/w" op: "VariableV2" attr { key: "shape" value { shape { dim { size: 2000 } } } } }
node { name: "a/x" op: "MatMul" input: "a/w" }
node { name: "gone/v" op: "VariableV2" attr { key: "shape" value { shape { dim { size: 300 } } } } }
node { name: "late" op: "VariableV2" attr { key: "shape" value { shape { dim { size: 7 } } } } }
END
cat >new.pbtxt <<'END'
node { name: "a/w" op: "VariableV2" attr { key: "shape" value { shape { dim { size: 2500 } } } } }
node { name: "a/x" op: "MatMul" input: "a/w" }
node { name: "fresh/v" op: "VariableV2" attr { key: "shape" value { shape { dim { size: 400 } } } } }
node { name: "late" op: "VariableV2" attr { key: "shape" value { shape { dim { size: 0 } } } } }
END
$TFPROF diff old.pbtxt new.pbtxt old.pbtxt --names a,b,c -select params
status=$?
rm old.pbtxt new.pbtxt
exit $status
