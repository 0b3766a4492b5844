#include "tensor/weightless_attention_test.cc"
