# what: renamed lines of a text keep what the text does not show below them
# from: deviation: the original compares nothing
printf 'node name | requested bytes\n_TFProfRoot (--/5.00GB)\n  x (1.00GB/4.00GB)\n' >a
printf 'node name | requested bytes\n_TFProfRoot (--/6.00GB)\n  z (1.00GB/5.00GB)\n' >b
$TFPROF diff a b -rename s/z/x/
rm a b
