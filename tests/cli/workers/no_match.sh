# what: a pattern that matches nothing is said; status 3
# from: deviation: the original takes no patterns
$TFPROF --profile_path='job_*/profile_100' scope
