#include "tensor/attention_test.cc"
