# what: --of compares kernels, steps, devices and memory; gates and -n apply; the data names the sides left and right
# from: deviation: the original compares nothing
a=$DATA/traces/nsys.sqlite b=$DATA/traces/rocprof_results.json m=$DATA/memory/snapshot.pickle
for of in kernels steps devices; do
	echo "# $of"
	$TFPROF diff --of=$of $a $b -label nvidia -label amd -n 4 2>/dev/null
done
echo '# memory'
$TFPROF diff --of=memory $m $m
echo '# data'
$TFPROF diff --of=kernels --swap $a $b -output csv 2>/dev/null
$TFPROF diff --of=kernels $a $b -output json 2>/dev/null | grep '"of"'
echo '# errors'
$TFPROF diff --of=steps $a $DATA/example/profile_100 2>&1
$TFPROF diff --of=steps $a@1 $b 2>&1
$TFPROF diff --of=steps $a $b $b 2>&1
$TFPROF diff --of=step $a $b 2>&1
true
