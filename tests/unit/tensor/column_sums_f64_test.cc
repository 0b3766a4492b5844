#include "tensor/column_sums_test.cc"
