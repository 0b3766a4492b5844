// Which way sums over neighbours are computed where a device has several, by measurement. A stream measures the first sum of a kind over
// arcs that it was told of (DeviceStream::keep_arcs). What it found is kept in a file beside the prepared graph, so that a later run chooses
// the same and comes to the same bits.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/types.h"

namespace atl {

/// Sums that take the same time. Only rows of Reals have several ways.
struct SumKind {
  std::string arcs;                     // their name
  Index rows = 0, cols = 0, count = 0;  // destinations, sources, arcs
  Index columns = 0;                    // of the rows that are added up
  bool accumulated = false;             // to what is there
  bool fused = false;  // our kernels do what follows (bias, activation, dropout) in the same pass
  auto operator<=>(const SumKind&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy errs
};

struct SumChoice {
  double own = 0, library = 0;  // milliseconds of our kernels, and of the library's with what follows
  bool takes_library = false;
  bool operator==(const SumChoice&) const = default;
};
/// The library's has to be 5 % faster: near ties are ours, so that noise of the measurement seldom decides.
SumChoice choose(double own, double library);

/// One rank's. Not thread-safe.
class SumChoices {
 public:
  /// Kept no longer than this object.
  SumChoices() = default;
  /// Kept in files of `folder`, one per rank and kind of device. Missing ones are made, the folder isn't.
  SumChoices(std::filesystem::path folder, int rank) : folder_(std::move(folder)), rank_(rank) {}

  /// From here on they are those of a device that its maker calls so. Throws Error where their file is damaged.
  void open(std::string_view device);
  /// Null: it hasn't been measured.
  const SumChoice* find(const SumKind& kind) const;
  /// What is kept from here on: this choice, or that of another run which was first. Null: the file can't be written. A choice that no
  /// later run would know of isn't made.
  const SumChoice* add(const SumKind& kind, const SumChoice& choice);
  /// Whether add() may still keep any.
  bool can_keep() const { return can_keep_; }
  const std::map<SumKind, SumChoice>& all() const { return all_; }
  /// Empty before open(), and where nothing is kept.
  const std::filesystem::path& file() const { return file_; }

 private:
  bool write_with(const SumKind& kind, const SumChoice& choice);

  std::filesystem::path folder_, file_;
  int rank_ = 0;
  std::string device_;
  bool can_keep_ = true;
  std::map<SumKind, SumChoice> all_;
};

}  // namespace atl
