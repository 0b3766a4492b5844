#include "tensor/rowwise_test.cc"
