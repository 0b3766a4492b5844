#include "tensor/gemm_test.cc"
