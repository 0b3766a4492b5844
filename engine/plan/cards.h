// GPUs that a plan knows by name: what their kernels reach, and what they hold.
#pragma once

#include <string>

#include "base/types.h"
#include "tensor/rates.h"

namespace atl {

struct Card {
  const char* name;    // in the manifest's and the command line's words: "h100"
  const char* title;   // "H100 (80 GB, SXM)"
  MachineRates rates;  // of a rank that has the card to itself
  Index bytes;         // of its memory that programs can have
  double link_bytes;   // a second, each way, between cards of a server: PCIe's
  bool measured;       // the rates; else they follow from its data sheet
  const char* source;  // of them
};

/// Throws Error naming the known cards where `name` is none of them.
const Card& card_of(const std::string& name);
/// "a100, h100 or h200"
std::string card_names();

}  // namespace atl
