# what: convert with another -output is refused before anything is read
# from: deviation: a command of ours
$TFPROF convert --graph_path=missing -output timeline:outfile=t.json
