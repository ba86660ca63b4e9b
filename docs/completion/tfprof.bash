# Made by tools/gen_docs.c; do not edit.
_tfprof_words()
{
	local own= single=
	while [ "$at" -gt 2 ] && [ -e "${words[1]}" ] && [[ ${words[1]} == *[./]* ]]; do
		words=("${words[0]}" "${words[@]:2}") at=$((at - 1)); done
	[ "${words[1]}" = gpu ] && words[1]=devices
	[ "$at" -gt 1 ] && case ${words[1]} in
	record) case " ${words[*]:0:at} " in *' -- '*)
		case " ${words[*]:0:at}" in *' --') COMPREPLY=($(compgen -c -- "$cur")) ;;
		*) COMPREPLY=($(compgen -f -- "$cur")) ;; esac; return ;; esac ;;&
	top) case $prev in -n|--n) COMPREPLY=($(compgen -W '10 20 50 100 0' -- "$cur")); return ;; esac ;;&
	top) own='-n ' single='-n ' ;;
	peek) case $prev in -top|--top) COMPREPLY=($(compgen -W '10 20 50 100 0' -- "$cur")); return ;; esac ;;&
	peek) case $prev in -table|--table) COMPREPLY=($(compgen -W 'all callers callees inputs readers ops kernels lines steps' -- "$cur")); return ;; esac ;;&
	peek) own='--top= --table= ' single='-top -table ' ;;
	devices) case $prev in -top|--top) COMPREPLY=($(compgen -W '10 20 50 100 0' -- "$cur")); return ;; esac ;;&
	devices) case $prev in -table|--table) COMPREPLY=($(compgen -W 'all devices step_time gpus idle idle_places kernels waits latency communication transfers processes synchronisations calls launches ranges steps copies graphs memory overhead' -- "$cur")); return ;; esac ;;&
	devices) own='--top= --table= ' single='-top -table ' ;;
	kernels) case $prev in -top|--top) COMPREPLY=($(compgen -W '10 20 50 100 0' -- "$cur")); return ;; esac ;;&
	kernels) case $prev in -by|--by) COMPREPLY=($(compgen -W 'kernel phase' -- "$cur")); return ;; esac ;;&
	kernels) own='--top= --by= ' single='-top -by ' ;;
	steps) case $prev in -top|--top) COMPREPLY=($(compgen -W '10 20 50 100 0' -- "$cur")); return ;; esac ;;&
	steps) own='--top= ' single='-top ' ;;
	phases) case $prev in -top|--top) COMPREPLY=($(compgen -W '10 20 50 100 0' -- "$cur")); return ;; esac ;;&
	phases) own='--top= ' single='-top ' ;;
	critical) case $prev in -top|--top) COMPREPLY=($(compgen -W '10 20 50 100 0' -- "$cur")); return ;; esac ;;&
	critical) own='--top= ' single='-top ' ;;
	what-if) case $prev in -top|--top) COMPREPLY=($(compgen -W '10 20 50 100 0' -- "$cur")); return ;; esac ;;&
	what-if) case $prev in -each|--each) COMPREPLY=($(compgen -W 'none kernel op line' -- "$cur")); return ;; esac ;;&
	what-if) own='--top= --each= ' single='-top -each ' ;;
	idle) case $prev in -by|--by) COMPREPLY=($(compgen -W 'auto op line call step' -- "$cur")); return ;; esac ;;&
	idle) own='--top= --by= ' single='-top -by ' ;;
	why) case $prev in -as|--as) COMPREPLY=($(compgen -W 'auto ranks runs' -- "$cur")); return ;; esac ;;&
	why) own='--top= --as= --cause= --fail-on= --allow-inconclusive ' single='-top -as -cause -fail-on -allow-inconclusive ' ;;
	memory) case $prev in -top|--top) COMPREPLY=($(compgen -W '10 20 50 100 0' -- "$cur")); return ;; esac ;;&
	memory) case $prev in -by|--by) COMPREPLY=($(compgen -W 'auto line op kind size module' -- "$cur")); return ;; esac ;;&
	memory) own='--top= --by= --diff ' single='-top -by -diff ' ;;
	collectives) case $prev in -top|--top) COMPREPLY=($(compgen -W '10 20 50 100 0' -- "$cur")); return ;; esac ;;&
	collectives) own='--top= --fail-on= ' single='-top -fail-on ' ;;
	roofline) case $prev in -top|--top) COMPREPLY=($(compgen -W '10 20 50 100 0' -- "$cur")); return ;; esac ;;&
	roofline) case $prev in -by|--by) COMPREPLY=($(compgen -W 'op kernel module phase' -- "$cur")); return ;; esac ;;&
	roofline) own='--top= --by= --peak-flops= --peak-bandwidth= ' single='-top -by -peak-flops -peak-bandwidth ' ;;
	flops) case $prev in -top|--top) COMPREPLY=($(compgen -W '10 20 50 100 0' -- "$cur")); return ;; esac ;;&
	flops) own='--top= --explain= --partial --peak-flops= ' single='-top -explain -partial -peak-flops ' ;;
	report) case $prev in -as|--as) COMPREPLY=($(compgen -W 'auto ranks runs' -- "$cur")); return ;; esac ;;&
	report) COMPREPLY=($(compgen -W '-o --as= -step -account_type_regexes -device_regexes -rename -worker_regexes --help' -- "$cur") $(compgen -f -- "$cur"))
		case $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac; return ;;
	set) own='--all ' single='-all ' ;;
	checkpoint) COMPREPLY=($(compgen -W '--verify -show_name_regexes -output -o -wide -full_names --help' -- "$cur") $(compgen -f -- "$cur"))
		case $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac; return ;;
	diff) case $prev in -view|--view) COMPREPLY=($(compgen -W 'scope graph op code' -- "$cur")); return ;; esac ;;&
	diff) case $prev in -of|--of) COMPREPLY=($(compgen -W 'nodes kernels steps devices memory phases' -- "$cur")); return ;; esac ;;&
	diff) case $prev in -by|--by) COMPREPLY=($(compgen -W 'node phase' -- "$cur")); return ;; esac ;;&
	diff) case $prev in -match|--match) COMPREPLY=($(compgen -W 'auto path' -- "$cur")); return ;; esac ;;&
	diff) case $prev in -per|--per) COMPREPLY=($(compgen -W 'step run' -- "$cur")); return ;; esac ;;&
	diff) case $cur in --*) COMPREPLY=($(compgen -W '--view= --of= --top= --by= --delta= --min_size= --all --names= --label= --swap --rename= --match= --per= --gate= --allow-inconclusive --level= --help' -- "$cur") $(compgen -f -- "$cur"))
		case $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac; return ;; esac ;;
	baseline) [ "$at" -eq 2 ] && { COMPREPLY=($(compgen -W 'save list show remove' -- "$cur")); return; } ;;&
	baseline) COMPREPLY=($(compgen -W '--help' -- "$cur") $(compgen -f -- "$cur"))
		case $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac; return ;;
	record) case $prev in -level|--level) COMPREPLY=($(compgen -W 'kernels launches full' -- "$cur")); return ;; esac ;;&
	record) case $prev in -graphs|--graphs) COMPREPLY=($(compgen -W 'node graph' -- "$cur")); return ;; esac ;;&
	record) case $prev in -start|--start) COMPREPLY=($(compgen -W 'ctl' -- "$cur")); return ;; esac ;;&
	record) COMPREPLY=($(compgen -W '--level= --graphs= --mem --sync --delay= --duration= --start= --step-nvtx= --step-every= --max-size= --no-nvtx --chain --step-signal --self-limit --detach --wait= -o --force --verbose --env --help' -- "$cur") $(compgen -f -- "$cur"))
		case $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac; return ;;
	ctl) [ "$at" -eq 3 ] && { COMPREPLY=($(compgen -W 'start stop step flush status' -- "$cur")); return; } ;;&
	ctl) COMPREPLY=($(compgen -W '--help' -- "$cur") $(compgen -f -- "$cur"))
		case $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac; return ;;
	serve) case $prev in -as|--as) COMPREPLY=($(compgen -W 'auto ranks runs' -- "$cur")); return ;; esac ;;&
	serve) COMPREPLY=($(compgen -W '--port= --open --as= -step -account_type_regexes -device_regexes -rename -worker_regexes --help' -- "$cur") $(compgen -f -- "$cur"))
		case $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac; return ;;
	mcp) COMPREPLY=($(compgen -W '--allow= --help' -- "$cur") $(compgen -f -- "$cur"))
		case $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac; return ;;
	doctor) COMPREPLY=($(compgen -W '-o --help' -- "$cur") $(compgen -f -- "$cur"))
		case $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac; return ;;
	help) case $cur in -*) ;; *) COMPREPLY=($(compgen -W 'scope graph code op summary top peek advise devices gpu kernels steps phases critical what-if idle why memory collectives roofline flops report convert set reset checkpoint diff baseline load use list help quit exit record ctl serve mcp ui schema doctor bytes peak_bytes residual_bytes output_bytes micros accelerator_micros cpu_micros params float_ops occurrence device op_types input_shapes tensor_value num_hidden_ops percent self_micros kernels bytes_accessed critical_micros live_bytes allocated_bytes allocations csv file folded github html json junit legacy md ndjson none pprof profile run_meta stdout timeline mean cv median min max std p95 p99 n' -- "$cur")); return ;; esac ;;
	esac
	local pre=
	case $cur in *,*) pre=${cur%,*}, ;; esac
	case ${prev#-} in
	select|-select)
		COMPREPLY=($(compgen -P "$pre" -W 'bytes peak_bytes residual_bytes output_bytes micros accelerator_micros cpu_micros params float_ops occurrence device op_types input_shapes tensor_value num_hidden_ops percent self_micros kernels bytes_accessed critical_micros live_bytes allocated_bytes allocations' -- "${cur##*,}")); return ;;
	order_by|-order_by)
		COMPREPLY=($(compgen -W 'name bytes peak_bytes residual_bytes output_bytes micros accelerator_micros cpu_micros params float_ops occurrence self_micros kernels bytes_accessed critical_micros live_bytes allocated_bytes allocations' -- "$cur")); return ;;
	stats|-stats)
		COMPREPLY=($(compgen -P "$pre" -W 'mean cv median min max std p95 p99 n' -- "${cur##*,}")); return ;;
	output|-output)
		case $cur in *outfile=*)
			COMPREPLY=($(compgen -f -- "${cur##*outfile=}")); typed=${cur##*outfile=}; return ;; esac
		COMPREPLY=($(compgen -W 'csv file:outfile= folded github html:outfile= json junit legacy md ndjson none pprof:outfile= profile:outfile= run_meta:outfile= stdout timeline:outfile=' -- "$cur")); return ;;
	-step-merge|--step-merge)
		COMPREPLY=($(compgen -W 'number time' -- "$cur")); return ;;
	-leaf|--leaf)
		COMPREPLY=($(compgen -W 'kernel op' -- "$cur")); return ;;
	-merge|--merge)
		COMPREPLY=($(compgen -W 'by-rank sum' -- "$cur")); return ;;
	-color|--color)
		COMPREPLY=($(compgen -W 'auto always never' -- "$cur")); return ;;
	at|-at)
		COMPREPLY=($(compgen -W 'peak oom end' -- "$cur")); return ;;
	by|-by)
		COMPREPLY=($(compgen -W 'none worker module op annotation source kernel hlo_category function phase module-class provider' -- "$cur")); return ;;
	align|-align)
		COMPREPLY=($(compgen -W 'step time' -- "$cur")); return ;;
	esac
	case $cur in
	--*) COMPREPLY=($(compgen -W "$own"'--profile_path= --graph_path= --run_meta_path= --op_log_path= --checkpoint_path= --recording= --step-nvtx= --step-kernel= --step-every= --step-merge= --keep-warmup --leaf= --merge= --tf-layout --process= --job= --gpu= --detail-steps= --max-memory= --recover --sample= --graph-capture= --guess-steps --assume_batch= --lazy-steps --color= --width= --no-pager --help --interactive --version' -- "$cur"))
		case $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac; return ;;
	-*) COMPREPLY=($(compgen -W "$single"'-max_depth -min_bytes -min_peak_bytes -min_residual_bytes -min_output_bytes -min_micros -min_accelerator_micros -min_cpu_micros -min_params -min_float_ops -min_occurrence -step -order_by -account_type_regexes -start_name_regexes -trim_name_regexes -show_name_regexes -hide_name_regexes -account_displayed_op_only -select -output -device_regexes -viz -dump_to_file -o -top -rename -stats -at -by -max_workers -worker_regexes -align -bars -quiet -wide -full_names -source -source_path -max_values' -- "$cur")); return ;;
	esac
	COMPREPLY=($(compgen -W 'scope graph code op summary top peek advise devices gpu kernels steps phases critical what-if idle why memory collectives roofline flops report convert set reset checkpoint diff baseline load use list help quit exit record ctl serve mcp ui schema doctor' -- "$cur"))
	while read -r pre; do
		case $pre in *.py|*.c|*.h|*.md|*.sh|*.o|*.so|*.csv|*.svg|*.png|*.html) ;; *) COMPREPLY+=("$pre") ;; esac
	done < <(compgen -f -- "$cur")
}
_tfprof()
{
	local line=${COMP_LINE:0:COMP_POINT} at cur prev typed kept
	local -a words
	read -ra words <<<"$line"
	case $line in *[[:blank:]]) words+=('') ;; esac
	at=$((${#words[@]} - 1)) cur=${words[-1]} prev=${words[-2]}
	case $cur in --*=*) prev=${cur%%=*} cur=${cur#*=} ;; esac
	typed=$cur
	_tfprof_words
	case $typed in *[:=]*) kept=${typed%"${typed##*[:=]}"}; COMPREPLY=("${COMPREPLY[@]#"$kept"}") ;; esac
	case $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac
}
complete -o filenames -F _tfprof tfprof
