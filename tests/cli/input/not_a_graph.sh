# what: a file that is neither text nor binary is refused, with the place and what was expected
# from: deviation: what cannot be parsed ends with status 3
printf '\377PNG\r\n\032\n\0\0\0\rIHDR' >picture
$TFPROF scope --graph_path=picture
status=$?
rm picture
exit $status
