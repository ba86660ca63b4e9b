# what: mangled names of kernels are read as GCC's C++ runtime prints them, whatever compiler has built the program
# from: deviation: an input that the original does not know
cat > names.json <<'END'
{"traceEvents": [
{"ph": "X", "pid": 0, "tid": 7, "ts": 0, "dur": 3, "cat": "kernel", "name": "_ZN2at6native12_GLOBAL__N_15applyIZZNS0_3gpuESt6vectorIS3_IiSaIiEESaIS5_EESt8functionIFvS3_IfSaIfEEEEENKUlfE2_clEfEUliE_iEET0_T_SF_"},
{"ph": "X", "pid": 0, "tid": 7, "ts": 10, "dur": 2, "cat": "kernel", "name": "_ZNK2at6native1VINS1_IiEEErsEi"},
{"ph": "X", "pid": 0, "tid": 7, "ts": 20, "dur": 1, "cat": "kernel", "name": "_ZN2at6native12_GLOBAL__N_12fpIXadL_ZNS1_6targetEiEEEEvv"}]}
END
$TFPROF kernels names.json -full_names
$TFPROF kernels names.json && rm names.json
