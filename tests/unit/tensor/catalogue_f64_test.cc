#include "tensor/catalogue_test.cc"
