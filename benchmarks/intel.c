/* What MKL asks before it takes its fastest kernels. Preloaded, the answer is yes on any processor: Marian's best case. */
int mkl_serv_intel_cpu(void) { return 1; }
int mkl_serv_intel_cpu_true(void) { return 1; }
