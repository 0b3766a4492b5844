// The stack machine that runs pickles, which are its programs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/format/pickle.h"

namespace atl {

class PickleMachine {
 public:
  PickleMachine(std::string_view program, const std::string& name) : program_(program), name_(name) {}

  /// Runs to the end. Returns all values; `root` is the result.
  std::vector<PickleNode> run(PickleNode::Ref& root);

 private:
  using Ref = PickleNode::Ref;
  using Kind = PickleNode::Kind;

  bool step();  // false: STOP
  bool step_scalar(unsigned char code);
  bool step_container(unsigned char code);
  bool step_memo(unsigned char code);
  bool step_object(unsigned char code);

  std::string_view bytes(std::uint64_t count);
  std::uint64_t unsigned_number(int width);
  std::int64_t signed_number(int width);
  std::string_view line();

  Ref make(Kind kind);
  void push(Ref ref) { stack_.push_back(ref); }
  Ref pop();
  PickleNode& top(const char* what);
  std::vector<Ref> pop_to_mark();
  void push_tuple(std::size_t length);
  void push_text(std::string_view text);
  void push_integer(std::int64_t value);
  void push_global(std::string_view module, std::string_view name);
  void make_object();
  void set_memo(std::uint64_t key);
  void get_memo(std::uint64_t key);
  [[noreturn]] void broken(const std::string& what) const;

  std::string_view program_;
  std::size_t at_ = 0;
  const std::string& name_;
  std::vector<PickleNode> nodes_{PickleNode{}};
  std::vector<Ref> stack_;
  std::vector<std::size_t> marks_;
  std::map<std::uint64_t, Ref> memo_;
};

}  // namespace atl
