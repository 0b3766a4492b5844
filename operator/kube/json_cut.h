// Cuts JSON into pieces that are worth parsing, while it arrives: a list into its items, and a watch into its
// events. Only the beginnings and ends of pieces are checked here; the parser checks the rest.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace atl::kube {

/// Takes the text of a list in parts. It gives out the items one by one, and keeps the envelope, which is the
/// same object without its items.
class ItemCutter {
 public:
  using OnItem = std::function<void(std::string_view item)>;  // the text is lent for the call

  /// Each item, and the envelope, may have up to `limit` bytes. If one has more, feed() throws Error.
  ItemCutter(OnItem on_item, std::size_t limit) : on_item_(std::move(on_item)), limit_(limit) {}

  void feed(std::string_view part);
  /// Whether the text so far is a whole object.
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
  std::string word_;  // the last string among the list's own members, so far
  int depth_ = 0;     // open brackets of either kind; 2 between items
  bool in_items_ = false, in_string_ = false, is_escaped_ = false;
};

/// Takes text in parts, and gives out whole lines.
class LineCutter {
 public:
  /// A line may have up to `limit` bytes. If one has more, feed() throws Error.
  explicit LineCutter(std::size_t limit) : limit_(limit) {}

  void feed(std::string_view part);
  /// Takes the next whole line that isn't empty. Returns false if there is none yet.
  bool next(std::string& line);
  /// Whether text remains that doesn't end in a line end.
  bool has_rest() const { return begin_ < text_.size(); }

 private:
  const std::size_t limit_;
  std::string text_;
  std::size_t begin_ = 0, searched_ = 0;  // the next line's begin; how far its end was searched for
};

/// The text of an object's member, or "" if it has none. Members of nested objects aren't found.
std::string_view member_text(std::string_view object, std::string_view name);

// What identifies an object of the API. It is read from the object's JSON without parsing the rest.

struct ObjectKey {
  std::string name;     // "namespace/name"; for a cluster-wide object its name
  std::string uid;      // another if the object was deleted and made again
  std::string version;  // resourceVersion: opaque, compared only for equality
};

/// The object's key. A member that the object lacks is "".
ObjectKey object_key(std::string_view object);

}  // namespace atl::kube
