# what: the sample of the script that people used before, from two text answers
# from: deviation: the original compares nothing; the expected text is the one that the script documents
head() { cat <<'END'
Reading Files...
Try to use a single --profile_path instead of graph_path,op_log_path,run_meta_path
Parsing Inputs...
run graph coverage: 0.32

Doc:
scope: The nodes in the model graph are organized by their names, which is hierarchical like filesystem.
requested bytes: The memory requested by the operation, accumulatively.

Profile:
node name | requested bytes
END
}
{ head; cat <<'END'
_TFProfRoot (--/6220MB)
  optimize (0B/4640MB)
    optimize/gradients (0B/4210MB)
      optimize/gradients/output (0B/2760MB)
        optimize/gradients/output/rec (0B/2760MB)
          optimize/gradients/output/rec/output_prob (0B/432MB)
            optimize/gradients/output/rec/output_prob/linear (0B/432MB)
              optimize/gradients/output/rec/output_prob/linear/dot (0B/431MB)
                optimize/gradients/output/rec/output_prob/linear/dot/MatMul_grad (0B/431MB)
                  optimize/gradients/output/rec/output_prob/linear/dot/MatMul_grad/MatMul_1 (0B/430MB)
          optimize/gradients/output/rec/while_loop_body (0B/353MB)
            optimize/gradients/output/rec/while_loop_body/loss (0B/353MB)
              optimize/gradients/output/rec/while_loop_body/loss/loss_ce (0B/353MB)
END
} >scope_file1
{ head; cat <<'END'
_TFProfRoot (--/2840MB)
  optimize (0B/1820MB)
    optimize/gradients (0B/1390MB)
      optimize/gradients/output (0B/595MB)
        optimize/gradients/output/rec (0B/595MB)
          optimize/gradients/output/rec/output_prob (0B/40.3MB)
            optimize/gradients/output/rec/output_prob/linear (0B/40.3MB)
              optimize/gradients/output/rec/output_prob/linear/dot (0B/40.1MB)
                optimize/gradients/output/rec/output_prob/linear/dot/MatMul_grad (0B/40.1MB)
                  optimize/gradients/output/rec/output_prob/linear/dot/MatMul_grad/MatMul_1 (0B/39.1MB)
END
} >scope_file2
$TFPROF diff scope_file1 scope_file2 left right --delta 0.1 --min_size 1MB -output legacy
rm scope_file1 scope_file2
