#include "tensor/bit_features_test.cc"
