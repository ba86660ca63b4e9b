# what: statistics are over the steps of all workers, and stand before the workers' columns
# from: deviation: the original loads one profile
. "$DATA/small/jobs.sh"
profile a 1 1000 10 20
profile b 1 1000 30 40
rows '[ab]' scope -by worker -stats mean,n -select cpu_micros
rm -r a b
