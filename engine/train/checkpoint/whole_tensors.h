// Parameters as files hold them: whole, on rank 0, whoever holds which rows of them; and back to the rows
// that a rank holds, however many ranks there were then.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "model/parameters.h"
#include "tensor/copies.h"
#include "train/checkpoint/safetensors.h"

namespace atl {

/// The tensors of a file that rank 0 writes. References outlive it.
class WholeTensors {
 public:
  WholeTensors(Communicator& comm, const Parameters& parameters) : comm_(comm), parameters_(parameters) {}

  /// Adds the parameters' values, or something else laid out as Parameters::values() (the trainable part
  /// alone: moments), under `prefix` and their names. What rank 0 holds whole it gives as a view. Collective.
  void add(const Real* values, const std::string& prefix, bool trainable_only);
  /// Where they may lie in a device's memory.
  void add(HostArray values, const std::string& prefix, bool trainable_only);
  /// On rank 0; elsewhere what it happens to hold.
  const std::vector<TensorView>& tensors() const { return tensors_; }

 private:
  MatrixView room_for(const Parameters::Entry& entry, const std::string& prefix);

  Communicator& comm_;
  const Parameters& parameters_;
  std::vector<TensorView> tensors_;
  std::deque<HostArray> held_;        // what tensors_ of others look at
  std::vector<Matrix> put_together_;  // (1, elements): what tensors_ of sliced parameters look at
};

/// The other way, from a file with tensors that were added so: copies the rows that this rank holds. Throws
/// Error saying what is missing or has another shape.
void read_held_rows(const SafetensorsFile& file, const Parameters& parameters, Real* values,
                    const std::string& prefix, bool trainable_only);

}  // namespace atl
