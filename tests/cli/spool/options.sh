# what: flags about spools that make no sense are refused before anything is read
# from: deviation: an input that the original does not know
for flag in leaf=x merge=x step-every=x step-every=-1 detail-steps=5-3 detail-steps=x 'step-nvtx=(' 'step-kernel=['; do
	$TFPROF scope --spool=missing "--$flag" >/dev/null
	echo $?
done
$TFPROF scope --spool=missing --profile_path=missing
