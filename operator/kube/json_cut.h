// Cuts JSON, as it arrives, into the pieces that are worth parsing: a list into its items, a watch into its
// events. Only the beginnings and ends of pieces are checked here; the parser checks the rest.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace atl::kube {

/// Takes a list's text in parts, gives out its items one by one, and keeps its envelope: the same object
/// without items.
class ItemCutter {
 public:
  using OnItem = std::function<void(std::string_view item)>;  // the text is lent for the call

  /// Items and the envelope may be up to `limit` bytes each; beyond that feed() throws Error.
  ItemCutter(OnItem on_item, std::size_t limit) : on_item_(std::move(on_item)), limit_(limit) {}

  void feed(std::string_view part);
  /// Whether the text has ended where an object ends.
  bool is_whole() const { return depth_ == 0 && !envelope_.empty(); }
  const std::string& envelope() const { return envelope_; }

 private:
  void step(char c);
  enum class Place {
    kEnvelope,
    kBetween,
    kItem
  };  // between: after the items' bracket, before or after an item
  Place place() const;
  void keep(Place place, std::string_view run);

  const OnItem on_item_;
  const std::size_t limit_;
  std::string envelope_, item_;
  std::string word_;  // the latest string among the list's own members, as far as it has arrived
  int depth_ = 0;     // nested brackets, of either kind; 2 between items
  bool in_items_ = false, in_string_ = false, is_escaped_ = false;
};

/// Takes text in parts, gives out lines.
class LineCutter {
 public:
  /// Lines may be up to `limit` bytes; beyond that feed() throws Error.
  explicit LineCutter(std::size_t limit) : limit_(limit) {}

  void feed(std::string_view part);
  /// Takes the next whole line that isn't empty; false where there is none yet.
  bool next(std::string& line);
  /// Whether text without an end of line is left.
  bool has_rest() const { return begin_ < text_.size(); }

 private:
  const std::size_t limit_;
  std::string text_;
  std::size_t begin_ = 0, searched_ = 0;  // of the next line; how far its end has been searched for
};

/// An object's member as written, "" where it has none. Members of members aren't searched.
std::string_view member_text(std::string_view object, std::string_view name);

// What identifies an object of the API, read from its JSON without parsing the rest.

struct ObjectKey {
  std::string name;     // "namespace/name"; a cluster-wide object's name alone
  std::string uid;      // differs where the object was deleted and made again
  std::string version;  // resourceVersion: opaque, only compared for equality
};

/// Members that the object lacks are "".
ObjectKey object_key(std::string_view object);

}  // namespace atl::kube
