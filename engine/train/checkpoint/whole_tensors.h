// Parameters as files hold them: whole, on rank 0, whichever ranks hold their rows. And the way back to the
// rows that a rank holds, whatever the number of ranks was then.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "model/parameters.h"
#include "tensor/copies.h"
#include "train/checkpoint/safetensors.h"

namespace atl {

/// The tensors of a file that rank 0 writes. References must outlive it.
class WholeTensors {
 public:
  WholeTensors(Communicator& comm, const Parameters& parameters) : comm_(comm), parameters_(parameters) {}

  /// Adds the parameters' values, or something laid out like Parameters::values() (moments: only its
  /// trainable part), named by `prefix` and the parameters' names. Tensors that rank 0 holds whole are added
  /// as views. Collective.
  void add(const Real* values, const std::string& prefix, bool trainable_only);
  /// The same for values that may lie in a device's memory.
  void add(HostArray values, const std::string& prefix, bool trainable_only);
  /// Complete on rank 0; on other ranks only what they happen to hold.
  const std::vector<TensorView>& tensors() const { return tensors_; }

 private:
  MatrixView room_for(const Parameters::Entry& entry, const std::string& prefix);

  Communicator& comm_;
  const Parameters& parameters_;
  std::vector<TensorView> tensors_;
  std::deque<HostArray> held_;        // memory for views in tensors_
  std::vector<Matrix> put_together_;  // (1, elements): memory for tensors_ of sliced parameters
};

/// The way back, from a file with tensors that were added in this way: copies the rows that this rank holds.
/// Throws Error naming what is missing or has another shape.
void read_held_rows(const SafetensorsFile& file, const Parameters& parameters, Real* values,
                    const std::string& prefix, bool trainable_only);

}  // namespace atl
