// The operations of a pickle (Python's pickletools.py describes them). Every function handles the
// codes of one kind and returns false for others.
#include <bit>

#include "base/error.h"
#include "dataset/format/pickle_machine.h"

namespace atl {

bool PickleMachine::step_scalar(unsigned char code) {
  switch (code) {
    case 'N':
      push(0);
      return true;
    case 0x88:
    case 0x89: {
      const Ref ref = make(Kind::kBool);
      nodes_[ref].integer = code == 0x88;
      push(ref);
      return true;
    }
    case 'J':
      push_integer(signed_number(4));
      return true;
    case 'K':
      push_integer(std::int64_t(unsigned_number(1)));
      return true;
    case 'M':
      push_integer(std::int64_t(unsigned_number(2)));
      return true;
    case 0x8a: {
      const int width = int(unsigned_number(1));
      if (width > 8) broken("a number is too large");
      push_integer(signed_number(width));
      return true;
    }
    case 'G': {
      std::uint64_t big_endian = 0;
      for (char c : bytes(8)) big_endian = big_endian << 8 | static_cast<unsigned char>(c);
      const Ref ref = make(Kind::kReal);
      nodes_[ref].real = std::bit_cast<double>(big_endian);
      push(ref);
      return true;
    }
    case 'U':
    case 'C':
    case 0x8c:
      push_text(bytes(unsigned_number(1)));
      return true;
    case 'T':
    case 'B':
    case 'X':
      push_text(bytes(unsigned_number(4)));
      return true;
    case 0x8d:
    case 0x8e:
      push_text(bytes(unsigned_number(8)));
      return true;
    default:
      return false;
  }
}

bool PickleMachine::step_container(unsigned char code) {
  const auto append = [&](std::vector<Ref> found, Kind kind, const char* what) {
    PickleNode& target = top(what);
    if (target.kind != kind && target.kind != Kind::kObject)
      broken(fmt::format("{} is something else", what));
    if (kind == Kind::kDict && found.size() % 2 != 0) broken("a key has no value");
    target.items.insert(target.items.end(), found.begin(), found.end());
  };
  switch (code) {
    case '(':
      marks_.push_back(stack_.size());
      return true;
    case ')':
      push_tuple(0);
      return true;
    case 0x85:
      push_tuple(1);
      return true;
    case 0x86:
      push_tuple(2);
      return true;
    case 0x87:
      push_tuple(3);
      return true;
    case ']':
      push(make(Kind::kList));
      return true;
    case '}':
      push(make(Kind::kDict));
      return true;
    case 't': {
      std::vector<Ref> items = pop_to_mark();
      const Ref tuple = make(Kind::kTuple);
      nodes_[tuple].items = std::move(items);
      push(tuple);
      return true;
    }
    case 'a': {
      const Ref item = pop();
      append({item}, Kind::kList, "a list");
      return true;
    }
    case 'e':
      append(pop_to_mark(), Kind::kList, "a list");
      return true;
    case 's': {
      const Ref value = pop(), key = pop();
      append({key, value}, Kind::kDict, "a dict");
      return true;
    }
    case 'u':
      append(pop_to_mark(), Kind::kDict, "a dict");
      return true;
    default:
      return false;
  }
}

bool PickleMachine::step_memo(unsigned char code) {
  switch (code) {
    case 'q':
      set_memo(unsigned_number(1));
      return true;
    case 'r':
      set_memo(unsigned_number(4));
      return true;
    case 0x94:
      set_memo(memo_.size());
      return true;
    case 'h':
      get_memo(unsigned_number(1));
      return true;
    case 'j':
      get_memo(unsigned_number(4));
      return true;
    default:
      return false;
  }
}

bool PickleMachine::step_object(unsigned char code) {
  switch (code) {
    case 'c': {
      const std::string_view module = line();
      push_global(module, line());
      return true;
    }
    case 0x93: {
      const PickleNode name = nodes_[pop()], module = nodes_[pop()];
      push_global(module.text, name.text);
      return true;
    }
    case 'R':
    case 0x81:
      make_object();
      return true;
    case 'b': {
      const Ref state = pop();
      PickleNode& object = top("an object");
      if (object.kind != Kind::kObject) broken("a state has no object");
      object.state = state;
      return true;
    }
    default:
      return false;
  }
}

}  // namespace atl
