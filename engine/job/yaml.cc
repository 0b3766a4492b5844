#include "job/yaml.h"

#include <yaml-cpp/emitterstyle.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace atl {
namespace {

constexpr int kMostDocuments = 1000;

std::size_t size_of(const Node& node) {
  std::size_t size = 1;
  for (const auto& item : node.items) size += size_of(item);
  for (const auto& [key, value] : node.entries) size += size_of(value);
  return size;
}

std::string key_text(double number) {
  if (std::isnan(number)) return ".nan";
  if (std::isinf(number)) return number < 0 ? "-.inf" : ".inf";
  return fmt::format("{}", number);
}

/// A key as text, the way JSON writes it: the key of `on: 1` is "true".
std::string key_text(const Node& key) {
  if (const auto* flag = std::get_if<bool>(&key.scalar)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&key.scalar)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&key.scalar)) return key_text(*number);
  return key.written;
}

/// Builds one document's tree from yaml-cpp's events.
class Builder : public YAML::EventHandler {
 public:
  Builder(std::string name, bool lines, std::size_t most_values)
      : name_(std::move(name)), lines_(lines), most_values_(most_values) {}

  bool empty() const { return !has_root_ || root_.is_null(); }
  Node take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Node node;
    node.where = where(mark);
    add(std::move(node), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node node;
    node.where = where(mark);
    // NUL and other control characters arrive as invalid UTF-8.
    if (find_invalid_utf8(value) != std::string::npos)
      fail("{}: a character that YAML doesn't allow; remove it", node.where);
    node.written = value;
    node.scalar = tagged_scalar(tag, value, node.where);
    add(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) fail("{}: an alias inside its own anchor; write the value out", where(mark));
    count(size_of(found->second), where(mark));
    add(Node(found->second), YAML::NullAnchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Node::Kind::kList, mark, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Node::Kind::kMap, mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    YAML::anchor_t anchor;
    bool has_key = false;
    Node key{};
  };

  std::string where(const YAML::Mark& mark) const {
    return lines_ && !mark.is_null() ? fmt::format("{}:{}", name_, mark.line + 1) : name_;
  }

  void count(std::size_t values, const std::string& at) {
    values_ += values;
    if (values_ > most_values_)
      fail("{}: more than {} values in one document (aliases expanded); leave some out", at, most_values_);
  }

  void open(Node::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    Open& opened = open_.emplace_back(Open{{}, anchor});
    opened.node.kind = kind;
    opened.node.where = where(mark);
  }

  void close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    add(std::move(closed.node), closed.anchor);
  }

  void add(Node node, YAML::anchor_t anchor) {
    count(1, node.where);
    if (anchor != YAML::NullAnchor) anchors_[anchor] = node;
    if (open_.empty()) {
      root_ = std::move(node);
      has_root_ = true;
    } else if (open_.back().node.kind == Node::Kind::kList) {
      open_.back().node.items.push_back(std::move(node));
    } else if (!open_.back().has_key) {
      open_.back().key = std::move(node);
      open_.back().has_key = true;
    } else {
      add_entry(open_.back(), std::move(node));
    }
  }

  /// Refuses merge keys, which YAML 1.2 dropped. Parsers that still know them disagree on which of two values
  /// wins, the first or the last. A manifest must mean the same here and to kubectl.
  [[noreturn]] static void refuse_merge(const std::string& where) {
    fail(
        "{}: merge keys (<<) are not allowed, as parsers disagree on what they mean: write the fields out, or name "
        "a whole value with an alias (*name)",
        where);
  }

  static void add_entry(Open& map, Node value) {
    map.has_key = false;
    if (map.key.kind != Node::Kind::kScalar)
      fail("{}: a key must be a word, not a list or a map", map.key.where);
    if (map.key.is_null())
      fail("{}: a key must be a word, not null (quote it to mean the word)", map.key.where);
    const std::string key = key_text(map.key);
    if (key == "<<") refuse_merge(map.key.where);
    if (const Node* first = map.node.find(key)) {
      fail("{}: {} is given twice (first at {}): remove one", map.key.where, key, first->where);
    }
    if (value.kind != Node::Kind::kScalar)
      value.where = map.key.where;  // the line of its key, not of its first member
    map.node.entries.push_back({key, std::move(value)});
  }

  std::string name_;
  bool lines_;
  std::size_t most_values_;
  Node root_;
  bool has_root_ = false;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Node> anchors_;
  std::size_t values_ = 0;
};

/// The first line whose indentation holds a tab, which YAML doesn't allow; 0: none.
std::int64_t line_with_tab(const std::string& text) {
  std::istringstream stream(text);
  std::int64_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.substr(0, line.find_first_not_of(" \t")).find('\t') != std::string::npos) return number;
  }
  return 0;
}

std::vector<Node> parse(const std::string& text, const std::string& name, bool lines, YamlLimits limits) {
  if (text.size() > limits.bytes)
    fail("{}: larger than the {} bytes that are read; leave something out", name, limits.bytes);
  refuse_characters(text, name, lines);
  std::vector<Node> documents;
  // The library accepts a quoted scalar without its closing quote if only white space follows until the end
  // of the text. With a comment at the end, a missing quote is an error.
  const bool whole_lines = text.ends_with('\n');
  std::istringstream stream(whole_lines ? text + '#' : text);
  try {
    YAML::Parser parser(stream);
    for (int count = 0; count < kMostDocuments; ++count) {
      Builder builder(name, lines, limits.values);
      if (!parser.HandleNextDocument(builder)) return documents;
      if (!builder.empty()) documents.push_back(builder.take());
    }
    // Where a line begins with a comma, the library returns empty documents without end.
    fail("{}: not valid YAML: more than {} documents", name, kMostDocuments);
  } catch (const YAML::Exception& error) {
    if (const auto line = line_with_tab(text); lines && line > 0)
      fail("{}:{}: not valid YAML: the line is indented with a tab; use spaces", name, line);
    const std::string at =
        lines && !error.mark.is_null() ? fmt::format("{}:{}", name, error.mark.line + 1) : name;
    fail("{}: not valid YAML: {}", at, error.msg);
  }
}

nlohmann::json json_of(const Node& node) {
  if (node.kind == Node::Kind::kList) {
    auto list = nlohmann::json::array();
    for (const auto& item : node.items) list.push_back(json_of(item));
    return list;
  }
  if (node.kind == Node::Kind::kMap) {
    auto map = nlohmann::json::object();
    for (const auto& [key, value] : node.entries) map[key] = json_of(value);
    return map;
  }
  if (node.is_null()) return nullptr;
  if (const auto* flag = std::get_if<bool>(&node.scalar)) return *flag;
  if (const auto* integer = std::get_if<std::int64_t>(&node.scalar)) return *integer;
  if (const auto* number = std::get_if<double>(&node.scalar)) {
    if (!std::isfinite(*number))
      fail("{}: {} can't be written as JSON: quote it or write a number", node.where, node.written);
    return *number;
  }
  return std::get<std::string>(node.scalar);
}

}  // namespace

const Node* Node::find(const std::string& key) const {
  for (const auto& [name, value] : entries) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::vector<Node> parse_yaml(const std::string& text, const std::string& name, YamlLimits limits) {
  return parse(text, name, true, limits);
}

Node parse_yaml_value(const std::string& text, const std::string& where) {
  auto documents = parse(text, where, false, {});
  if (documents.size() > 1) fail("{}: one value, not {} documents", where, documents.size());
  if (!documents.empty()) return std::move(documents.front());
  Node null;
  null.where = where;
  return null;
}

std::string to_json(const Node& node) {
  return json_of(node).dump();
}

}  // namespace atl
