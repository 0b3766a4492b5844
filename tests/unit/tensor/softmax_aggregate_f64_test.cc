#include "tensor/softmax_aggregate_test.cc"
