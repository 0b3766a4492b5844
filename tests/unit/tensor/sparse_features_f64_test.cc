#include "tensor/sparse_features_test.cc"
