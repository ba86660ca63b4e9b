# what: md: a table, what Markdown knows escaped
# from: deviation: an extension
$TFPROF graph --graph_path=$DATA/small/views.graph.pbtxt --run_meta_path=$DATA/small/views.run_meta_0.pbtxt,$DATA/small/views.run_meta_1.pbtxt --op_log_path=$DATA/small/views.op_log.pbtxt -select micros,device,input_shapes,num_hidden_ops,percent -show_name_regexes '.*mul.*|.*a.*' -output md
