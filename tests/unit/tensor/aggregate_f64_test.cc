#include "tensor/aggregate_test.cc"
