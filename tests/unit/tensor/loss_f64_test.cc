#include "tensor/loss_test.cc"
