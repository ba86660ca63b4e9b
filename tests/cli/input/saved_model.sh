# what: the graph of a MetaGraphDef, alone and in a SavedModel, given as a file, a folder, a flag; two graphs, functions
# from: deviation: the original refuses such files
printf '\012\012\022\005\012\003\012\001n"\001s\022\027\012\007\012\001x\022\002No\022\014\012\004\032\000\032\000\012\004\032\000"\000' >m.meta
mkdir -p model
printf '\010\001\022%b' '\045' | cat - m.meta >model/saved_model.pb
printf '\022\000' >>model/saved_model.pb
view="-max_depth 2 -select op_types"
$TFPROF scope m.meta $view
$TFPROF scope model $view
$TFPROF scope --graph_path=model/saved_model.pb $view
$TFPROF scope --graph_path=model/ $view | tail -1
gzip -c m.meta | $TFPROF scope --graph_path=- $view
head -c 34 model/saved_model.pb >cut.pb
$TFPROF scope cut.pb $view
echo $?
$TFPROF scope --recover cut.pb $view
rm -r m.meta cut.pb model
