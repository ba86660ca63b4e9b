# Made by tools/gen_docs.c; do not edit.
_tfprof()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} pre
	[ "$COMP_CWORD" -gt 1 ] && case ${COMP_WORDS[1]} in
	checkpoint) COMPREPLY=($(compgen -W '--verify -show_name_regexes -output --help' -- "$cur") $(compgen -f -- "$cur"))
		case $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac; return ;;
	diff) case $cur in --*) COMPREPLY=($(compgen -W '--view= --delta= --min_size= --names= --swap --rename= --match= --per= --gate= --level= --help' -- "$cur") $(compgen -f -- "$cur"))
		case $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac; return ;; esac ;;
	baseline) [ "$COMP_CWORD" -eq 2 ] && { COMPREPLY=($(compgen -W 'save list show remove' -- "$cur")); return; } ;;&
	baseline) COMPREPLY=($(compgen -W '--help' -- "$cur") $(compgen -f -- "$cur"))
		case $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac; return ;;
	record) COMPREPLY=($(compgen -W '--level= --graphs= --mem --sync --delay= --duration= --start= --step-nvtx= --step-every= --max-size= --no-nvtx --chain --step-signal --self-limit --detach --wait= -o --force --verbose --env --help' -- "$cur") $(compgen -f -- "$cur"))
		case $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac; return ;;
	ctl) [ "$COMP_CWORD" -eq 3 ] && { COMPREPLY=($(compgen -W 'start stop step flush status' -- "$cur")); return; } ;;&
	ctl) COMPREPLY=($(compgen -W '--help' -- "$cur") $(compgen -f -- "$cur"))
		case $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac; return ;;
	report) COMPREPLY=($(compgen -W '-o -step -account_type_regexes -device_regexes -rename -worker_regexes --help' -- "$cur") $(compgen -f -- "$cur"))
		case $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac; return ;;
	serve) COMPREPLY=($(compgen -W '--port= --open -step -account_type_regexes -device_regexes -rename -worker_regexes --help' -- "$cur") $(compgen -f -- "$cur"))
		case $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac; return ;;
	gpu) COMPREPLY=($(compgen -W '--top= --table= --recover -output -wide --help' -- "$cur") $(compgen -f -- "$cur"))
		case $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac; return ;;
	doctor) COMPREPLY=($(compgen -W '-o --help' -- "$cur") $(compgen -f -- "$cur"))
		case $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac; return ;;
	help) case $cur in -*) ;; *) COMPREPLY=($(compgen -W 'scope graph code op summary top advise devices kernels steps convert set reset checkpoint diff baseline load use list help quit exit record ctl report serve gpu doctor bytes peak_bytes residual_bytes output_bytes micros accelerator_micros cpu_micros params float_ops occurrence device op_types input_shapes tensor_value num_hidden_ops percent self_micros kernels bytes_accessed csv file github html json junit md ndjson none pprof profile run_meta stdout timeline mean cv median min max std p95 p99 n' -- "$cur")); return ;; esac ;;
	esac
	[ "$cur" = = ] && cur=
	[ "$prev" = = ] && prev=${COMP_WORDS[COMP_CWORD-2]}
	pre=
	case $cur in *,*) pre=${cur%,*}, ;; esac
	case ${prev#-} in
	select|-select)
		COMPREPLY=($(compgen -P "$pre" -W 'bytes peak_bytes residual_bytes output_bytes micros accelerator_micros cpu_micros params float_ops occurrence device op_types input_shapes tensor_value num_hidden_ops percent self_micros kernels bytes_accessed' -- "${cur##*,}")); return ;;
	order_by|-order_by)
		COMPREPLY=($(compgen -W 'name bytes peak_bytes residual_bytes output_bytes micros accelerator_micros cpu_micros params float_ops occurrence self_micros kernels bytes_accessed' -- "$cur")); return ;;
	stats|-stats)
		COMPREPLY=($(compgen -P "$pre" -W 'mean cv median min max std p95 p99 n' -- "${cur##*,}")); return ;;
	output|-output)
		COMPREPLY=($(compgen -W 'csv file:outfile= github html:outfile= json junit md ndjson none pprof:outfile= profile:outfile= run_meta:outfile= stdout timeline:outfile=' -- "$cur")); return ;;
	-color)
		COMPREPLY=($(compgen -W 'auto always never' -- "$cur")); return ;;
	esac
	case $cur in
	--*) COMPREPLY=($(compgen -W '--profile_path= --graph_path= --run_meta_path= --op_log_path= --checkpoint_path= --spool= --step-nvtx= --step-kernel= --step-every= --step-merge= --keep-warmup --leaf= --merge= --tf-layout --process= --job= --gpu= --detail-steps= --max-memory= --recover --lazy-steps --color= --no-pager --help --version' -- "$cur"))
		case $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac; return ;;
	-*) COMPREPLY=($(compgen -W '-max_depth -min_bytes -min_peak_bytes -min_residual_bytes -min_output_bytes -min_micros -min_accelerator_micros -min_cpu_micros -min_params -min_float_ops -min_occurrence -step -order_by -account_type_regexes -start_name_regexes -trim_name_regexes -show_name_regexes -hide_name_regexes -account_displayed_op_only -select -output -device_regexes -viz -dump_to_file -rename -stats -by -max_workers -worker_regexes -align -bars -quiet -wide -max_values' -- "$cur")); return ;;
	esac
	COMPREPLY=($(compgen -W 'scope graph code op summary top advise devices kernels steps convert set reset checkpoint diff baseline load use list help quit exit record ctl report serve gpu doctor' -- "$cur") $(compgen -f -- "$cur"))
}
complete -o filenames -F _tfprof tfprof
