#include "dataset/format/pickle.h"

#include <utility>

#include "base/error.h"
#include "dataset/format/byte_source.h"
#include "dataset/format/mapped_file.h"
#include "dataset/format/pickle_machine.h"

namespace atl {

using Kind = PickleNode::Kind;
using Ref = PickleNode::Ref;

Pickle Pickle::open(const std::filesystem::path& path) {
  auto file = std::make_shared<const MappedFile>(path);
  return over(file->bytes(), path.string(), file);
}

Pickle Pickle::over(std::string_view bytes, std::string name, std::shared_ptr<const void> owner) {
  if (const std::string_view other = known_kind(bytes.substr(0, kKindBytes)); !other.empty())
    fail("{}: {}", name, other);
  Pickle pickle;
  pickle.name_ = std::move(name);
  pickle.owner_ = std::move(owner);
  pickle.nodes_ = PickleMachine(bytes, pickle.name_).run(pickle.root_);
  return pickle;
}

void Pickle::unexpected(const std::string& what) const {
  fail("{}: {}; check that this is the right file, or copy or download it again", name_, what);
}

const PickleNode& Pickle::expect(Ref ref, Kind kind, const char* what) const {
  const PickleNode& node = nodes_[ref];
  if (node.kind != kind) unexpected(fmt::format("{} is missing", what));
  return node;
}

/// The value of the first of `keys` that the dict has, because members were renamed over the years.
Ref Pickle::member(const PickleNode& dict, std::initializer_list<std::string_view> keys) const {
  for (std::string_view key : keys) {
    for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
      const PickleNode& name = nodes_[dict.items[i]];
      if (name.kind == Kind::kText && name.text == key) return dict.items[i + 1];
    }
  }
  unexpected(fmt::format("the member '{}' is missing", *keys.begin()));
}

/// Reads numpy.dtype("f4", …) with state (version, byte order, …).
std::pair<Dtype, Index> Pickle::dtype_of(Ref ref) const {
  const PickleNode& object = expect(ref, Kind::kObject, "a dtype");
  if (object.text != "numpy dtype" || object.args.empty()) unexpected("a dtype is missing");
  const PickleNode& code = expect(object.args[0], Kind::kText, "a dtype's code");
  const PickleNode& state = expect(object.state, Kind::kTuple, "a dtype's state");
  if (state.items.size() < 2) unexpected("a dtype's byte order is missing");
  const PickleNode& order = expect(state.items[1], Kind::kText, "a dtype's byte order");
  return parse_dtype(std::string(order.text) + std::string(code.text), name_);
}

/// Reads an ndarray, whose state is (version, shape, dtype, whether column-major, bytes).
NpyArray Pickle::array_of(Ref ref, const std::string& what) const {
  const PickleNode& object = expect(ref, Kind::kObject, "an array");
  if (!object.text.ends_with("multiarray _reconstruct")) unexpected("an array is something else");
  const PickleNode& state = expect(object.state, Kind::kTuple, "an array's state");
  if (state.items.size() != 5) unexpected("an array's state is damaged");
  NpyHeader header;
  std::tie(header.dtype, header.item_bytes) = dtype_of(state.items[2]);
  header.fortran = expect(state.items[3], Kind::kBool, "an array's order").integer != 0;
  const std::string_view data = expect(state.items[4], Kind::kText, "an array's data").text;
  for (Ref length : expect(state.items[1], Kind::kTuple, "an array's shape").items) {
    header.shape.push_back(expect(length, Kind::kInteger, "a length of an array").integer);
  }
  const std::optional<Index> needed = npy_data_bytes(header);
  if (!needed || *needed != Index(data.size()))
    unexpected("an array's data is not of the size that its shape needs");
  return NpyArray::raw(data, std::move(header), name_ + what, owner_);
}

NpyArray Pickle::array() const {
  return array_of(root_, "");
}

NpzCsr Pickle::csr() const {
  const PickleNode& object = expect(root_, Kind::kObject, "a CSR matrix");
  if (object.text.find("csr_") == std::string_view::npos) unexpected("a CSR matrix is missing");
  const PickleNode& members = expect(object.state, Kind::kDict, "a CSR matrix's state");
  const PickleNode& shape =
      expect(member(members, {"_shape", "shape"}), Kind::kTuple, "a CSR matrix's shape");
  if (shape.items.size() != 2) unexpected("a CSR matrix's shape is damaged");
  NpzCsr matrix{expect(shape.items[0], Kind::kInteger, "the number of rows").integer,
                expect(shape.items[1], Kind::kInteger, "the number of columns").integer,
                array_of(member(members, {"indptr"}), ":indptr"),
                array_of(member(members, {"indices"}), ":indices"),
                array_of(member(members, {"data"}), ":data")};
  check_csr(matrix, name_);
  return matrix;
}

Index Pickle::keys() const {
  return Index(nodes_[root_].items.size() / 2);
}

void Pickle::for_each_in_lists(const std::function<void(std::int64_t, std::int64_t)>& take) const {
  const PickleNode& dict = nodes_[root_];
  const bool is_dict = dict.kind == Kind::kDict ||
                       (dict.kind == Kind::kObject && dict.text.find("ict") != std::string_view::npos);
  if (!is_dict) unexpected("a dict of lists is missing");
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const std::int64_t key = expect(dict.items[i], Kind::kInteger, "a key that is a whole number").integer;
    for (Ref element : expect(dict.items[i + 1], Kind::kList, "a list of neighbours").items) {
      take(key, expect(element, Kind::kInteger, "a neighbour that is a whole number").integer);
    }
  }
}

}  // namespace atl
