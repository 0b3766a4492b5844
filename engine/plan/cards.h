// GPUs that a plan knows by name: the rates of their kernels, and their memory.
#pragma once

#include <string>

#include "base/types.h"
#include "tensor/rates.h"

namespace atl {

struct Card {
  const char* name;    // as the manifest and the command line name it: "h100"
  const char* title;   // "H100 (80 GB, SXM)"
  MachineRates rates;  // of a rank that has the card to itself
  Index bytes;         // of its memory, as far as programs can have it
  double link_bytes;   // a second, each way, between cards of a server: PCIe's
  bool measured;       // whether the rates were measured; else they follow from the data sheet
  const char* source;  // where the rates are from
};

/// Throws Error, which names the known cards, if `name` is none of them.
const Card& card_of(const std::string& name);
/// "a100, h100 or h200"
std::string card_names();

}  // namespace atl
