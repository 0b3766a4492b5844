// A reader for the Python pickles of the Planetoid files (protocols 2 to 4): NumPy arrays, SciPy CSR matrices
// and dicts of lists. It builds a tree of values and runs nothing: a class or function that is not on its
// short list is an Error.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/format/npy.h"
#include "dataset/format/npz.h"

namespace atl {

/// A pickled value. It refers to other values by their index in Pickle's nodes, so that shared values need no
/// ownership.
struct PickleNode {
  enum class Kind { kNone, kBool, kInteger, kReal, kText, kTuple, kList, kDict, kGlobal, kObject };
  using Ref = std::uint32_t;

  Kind kind = Kind::kNone;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text;   // kText: its bytes; kGlobal, kObject: "module name"
  std::vector<Ref> items;  // elements; of a kDict, or a kObject that is a dict: key, value, key, value, …
  std::vector<Ref> args;   // kObject: arguments of its constructor
  Ref state = 0;           // kObject: its state, set afterwards; 0: none
};

class Pickle {
 public:
  /// Throws Error, which begins with the path and names the byte, if the file is not such a pickle.
  static Pickle open(const std::filesystem::path& path);
  static Pickle over(std::string_view bytes, std::string name, std::shared_ptr<const void> owner);

  /// The whole value as a matrix.
  NpzCsr csr() const;
  /// The whole value as an array.
  NpyArray array() const;
  /// Reads the value as a dict of lists of whole numbers: calls take(key, element) for each element.
  void for_each_in_lists(const std::function<void(std::int64_t key, std::int64_t element)>& take) const;
  /// Number of keys of the dict.
  Index keys() const;

 private:
  NpyArray array_of(PickleNode::Ref ref, const std::string& what) const;
  std::pair<Dtype, Index> dtype_of(PickleNode::Ref ref) const;
  PickleNode::Ref member(const PickleNode& dict, std::initializer_list<std::string_view> keys) const;
  const PickleNode& expect(PickleNode::Ref ref, PickleNode::Kind kind, const char* what) const;
  [[noreturn]] void unexpected(const std::string& what) const;

  std::string name_;
  std::shared_ptr<const void> owner_;
  std::vector<PickleNode> nodes_;  // [0] is None
  PickleNode::Ref root_ = 0;
};

}  // namespace atl
