#include "dataset/format/pickle_machine.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"

namespace atl {
namespace {

/// Everything that the files may refer to, as Python 2, Python 3 and later NumPy and SciPy name it.
constexpr std::array<std::string_view, 13> kAllowed{"numpy.core.multiarray _reconstruct",
                                                    "numpy._core.multiarray _reconstruct",
                                                    "numpy ndarray",
                                                    "numpy dtype",
                                                    "scipy.sparse.csr csr_matrix",
                                                    "scipy.sparse._csr csr_matrix",
                                                    "scipy.sparse._csr csr_array",
                                                    "collections defaultdict",
                                                    "collections OrderedDict",
                                                    "__builtin__ list",
                                                    "builtins list",
                                                    "__builtin__ dict",
                                                    "builtins dict"};

}  // namespace

void PickleMachine::broken(const std::string& what) const {
  fail(
      "{}: byte {}: {}; it must be a pickle of NumPy arrays, SciPy CSR matrices or lists: copy or download "
      "it again",
      name_, at_, what);
}

std::string_view PickleMachine::bytes(std::uint64_t count) {
  if (count > program_.size() - at_) broken("the pickle is cut off");
  const std::string_view found = program_.substr(at_, std::size_t(count));
  at_ += std::size_t(count);
  return found;
}

std::uint64_t PickleMachine::unsigned_number(int width) {
  const std::string_view raw = bytes(std::uint64_t(width));
  std::uint64_t value = 0;
  for (int i = width - 1; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(raw[std::size_t(i)]);
  return value;
}

/// Two's complement of `width` bytes, little-endian; 0 bytes are 0.
std::int64_t PickleMachine::signed_number(int width) {
  const std::uint64_t value = unsigned_number(width);
  if (width == 0 || width == 8) return std::int64_t(value);
  const std::uint64_t sign = std::uint64_t(1) << (8 * width - 1);
  return std::int64_t((value ^ sign) - sign);
}

std::string_view PickleMachine::line() {
  const std::size_t end = program_.find('\n', at_);
  if (end == std::string_view::npos) broken("a name does not end");
  const std::string_view found = program_.substr(at_, end - at_);
  at_ = end + 1;
  return found;
}

PickleNode::Ref PickleMachine::make(Kind kind) {
  nodes_.emplace_back().kind = kind;
  return Ref(nodes_.size() - 1);
}

PickleNode::Ref PickleMachine::pop() {
  if (stack_.empty() || (!marks_.empty() && marks_.back() >= stack_.size())) broken("a value is missing");
  const Ref ref = stack_.back();
  stack_.pop_back();
  return ref;
}

PickleNode& PickleMachine::top(const char* what) {
  if (stack_.empty() || (!marks_.empty() && marks_.back() >= stack_.size()))
    broken(fmt::format("{} is missing", what));
  return nodes_[stack_.back()];
}

std::vector<PickleNode::Ref> PickleMachine::pop_to_mark() {
  if (marks_.empty()) broken("a mark is missing");
  const std::size_t mark = marks_.back();
  marks_.pop_back();
  std::vector<Ref> found(stack_.begin() + std::ptrdiff_t(mark), stack_.end());
  stack_.resize(mark);
  return found;
}

void PickleMachine::push_tuple(std::size_t length) {
  std::vector<Ref> items(length);
  for (std::size_t i = length; i-- > 0;) items[i] = pop();
  const Ref tuple = make(Kind::kTuple);
  nodes_[tuple].items = std::move(items);
  push(tuple);
}

void PickleMachine::push_text(std::string_view text) {
  const Ref ref = make(Kind::kText);
  nodes_[ref].text = text;
  push(ref);
}

void PickleMachine::push_integer(std::int64_t value) {
  const Ref ref = make(Kind::kInteger);
  nodes_[ref].integer = value;
  push(ref);
}

void PickleMachine::push_global(std::string_view module, std::string_view name) {
  const std::string whole = fmt::format("{} {}", module.substr(0, 80), name.substr(0, 80));
  const auto found = std::find(kAllowed.begin(), kAllowed.end(), whole);
  if (found == kAllowed.end()) broken(fmt::format("{} is not allowed", in_quotes(whole)));
  const Ref ref = make(Kind::kGlobal);
  nodes_[ref].text = *found;
  push(ref);
}

/// REDUCE and NEWOBJ: take a callable and its arguments, and make an object that remembers both.
void PickleMachine::make_object() {
  const Ref arguments = pop(), callable = pop();
  if (nodes_[callable].kind != Kind::kGlobal || nodes_[arguments].kind != Kind::kTuple)
    broken("a call is damaged");
  const Ref object = make(Kind::kObject);
  nodes_[object].text = nodes_[callable].text;
  nodes_[object].args = nodes_[arguments].items;
  push(object);
}

void PickleMachine::set_memo(std::uint64_t key) {
  top("a value to remember");
  memo_[key] = stack_.back();
}

void PickleMachine::get_memo(std::uint64_t key) {
  const auto found = memo_.find(key);
  if (found == memo_.end()) broken("a remembered value is missing");
  push(found->second);
}

bool PickleMachine::step() {
  const unsigned char code = static_cast<unsigned char>(bytes(1)[0]);
  if (code == '.') return false;
  if (code == 0x80) {
    bytes(1);  // the protocol number; operations are recognised by their codes
  } else if (code == 0x95) {
    bytes(8);  // the length of a frame, a hint for readers of streams
  } else if (!step_scalar(code) && !step_container(code) && !step_memo(code) && !step_object(code)) {
    --at_;
    broken(fmt::format("the operation 0x{:02x} is unknown", code));
  }
  return true;
}

std::vector<PickleNode> PickleMachine::run(Ref& root) {
  while (step()) {
  }
  marks_.clear();
  root = pop();
  return std::move(nodes_);
}

}  // namespace atl
