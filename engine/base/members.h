// The members of a struct by their names in files, for code that writes, reads or sums them all. A struct
// names its members once, in the order in which files have them:
//
//   static constexpr auto members() { return std::tuple{Key{"loss", &Epoch::loss}, …}; }
//
// Without names, std::tuple{&Span::begin, &Span::end}, the struct is a list in files.
#pragma once

#include <tuple>
#include <type_traits>

namespace atl {

/// Whether files have a member.
enum class Presence {
  kAlways,
  kNewer,  // always, but files of older versions lack it
  kIfAny,  // unless it is empty
};

template <class Owner, class Value>
struct Key {
  const char* name;  // "": its own members stand among the owner's
  Value Owner::*member;
  Presence presence = Presence::kAlways;
};
template <class Owner, class Value>
Key(const char*, Value Owner::*, Presence = Presence::kAlways) -> Key<Owner, Value>;

/// Calls `call` with each of T::members(), in order.
template <class T, class Call>
constexpr void each_member(Call call) {
  std::apply([&](const auto&... member) { (call(member), ...); }, T::members());
}

/// The name of the member `wanted`; null where members() doesn't list it.
template <class Owner, class Value>
constexpr const char* member_name(Value Owner::*wanted) {
  const char* name = nullptr;
  each_member<Owner>([&]([[maybe_unused]] const auto& each) {
    if constexpr (std::is_same_v<decltype(each.member), Value Owner::*>) {
      if (each.member == wanted) name = each.name;
    }
  });
  return name;
}

/// kMemberName<&Epoch::loss> is "loss".
template <auto kMember>
inline constexpr const char* kMemberName = member_name(kMember);

}  // namespace atl
