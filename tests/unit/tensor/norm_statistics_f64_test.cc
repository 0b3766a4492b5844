#include "tensor/norm_statistics_test.cc"
