#include "tensor/metrics_test.cc"
