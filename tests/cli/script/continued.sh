# what: a line that ends with a backslash continues on the next one
# from: deviation: the original refuses the backslash
p=$DATA/example/profile_100
printf 'scope -max_depth 1 \\\n -select \\\nmicros -q\nop \\\n -zz\n' | $TFPROF $p
