# what: with several workers, summary names the worker of each device, in text and as JSON
# from: deviation: the original loads one profile
cp "$DATA/traces/training.pt.trace.json.gz" rank0.pt.trace.json.gz
cp "$DATA/traces/training.pt.trace.json.gz" rank1.pt.trace.json.gz
$TFPROF summary rank0.pt.trace.json.gz rank1.pt.trace.json.gz 2>/dev/null | grep -E 'gpu:|of 2 workers'
$TFPROF summary rank0.pt.trace.json.gz rank1.pt.trace.json.gz -output json 2>/dev/null | grep -o '"name": *"gpu:0", *"worker": *"[^"]*"'
rm rank0.pt.trace.json.gz rank1.pt.trace.json.gz
