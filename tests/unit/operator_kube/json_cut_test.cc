// Pieces of JSON come out the same however the text was cut on its way.
#include "operator/kube/json_cut.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/json.h"

namespace atl::kube {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

struct Cut {
  std::vector<std::string> items;
  std::string envelope;
  bool is_whole = false;
};

/// Feeds the text in parts of `size` bytes, each from memory of its own.
Cut cut(const std::string& text, std::size_t size, std::size_t limit = 1 << 20) {
  Cut result;
  ItemCutter cutter([&](std::string_view item) { result.items.emplace_back(item); }, limit);
  for (std::size_t at = 0; at < text.size(); at += size) cutter.feed(std::string(text.substr(at, size)));
  result.envelope = cutter.envelope();
  result.is_whole = cutter.is_whole();
  return result;
}

const std::string kList = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7",
 "items":[1,2],"note":"}]\"items\":["},"items": [ {"a":"]}\\\"{[", "items":[{"b":[{}]}]} , {"ü":"日本"}
 ,{} ] , "tail":[{"x":1}]}
)";

TEST(ItemCutter, ItemsAndEnvelopeDontDependOnHowTheTextWasCut) {
  const json whole = parse_json(kList);
  json bare = whole;
  bare["items"] = json::array();
  for (std::size_t size = 1; size <= kList.size(); ++size) {
    const Cut got = cut(kList, size);
    ASSERT_EQ(got.items.size(), 3u) << size;
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(parse_json(got.items[i]), whole["items"][i]) << size;
    EXPECT_EQ(parse_json(got.envelope), bare) << size;
    EXPECT_TRUE(got.is_whole);
  }
}

TEST(ItemCutter, ListsWithoutItems) {
  for (const char* text : {R"({"items":[],"metadata":{}})", R"({"items":null,"metadata":{}})",
                           R"({"metadata":{}})", R"({"kind":"items","metadata":{},"other":[{"a":1}]})"}) {
    const Cut got = cut(text, 1);
    EXPECT_THAT(got.items, IsEmpty()) << text;
    EXPECT_EQ(got.envelope, text);
    EXPECT_TRUE(got.is_whole);
  }
}

TEST(ItemCutter, HalfAListIsNotWhole) {
  EXPECT_FALSE(cut("", 1).is_whole);
  for (std::size_t size = 1; size < kList.find_last_of('}'); ++size)
    EXPECT_FALSE(cut(kList.substr(0, size), 7).is_whole) << size;
}

TEST(ItemCutter, WhatIsTooLargeIsRefused) {
  const std::string big(2000, 'x');
  EXPECT_THROW(cut(R"({"items":[{"a":")" + big + R"("}]})", 10, 1000), Error);
  EXPECT_THROW(cut(R"({"metadata":")" + big + R"("})", 10, 1000), Error);
  const std::string many = R"({"items":[)" + std::string(R"({"a":1})") + std::string(R"(,{"a":1})", 8) + "]}";
  EXPECT_EQ(cut(many, 3, 40).items.size(), 2u) << "the limit is each item's own";
}

std::vector<std::string> lines_of(const std::string& text, std::size_t size) {
  LineCutter cutter(1000);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size(); at += size) {
    cutter.feed(text.substr(at, size));
    for (std::string line; cutter.next(line);) lines.push_back(line);
  }
  EXPECT_EQ(cutter.has_rest(), !text.ends_with('\n'));
  return lines;
}

TEST(LineCutter, LinesDontDependOnHowTheTextWasCut) {
  const std::string text = "{\"a\":\"日本\"}\n\r\n\n{\"b\":2}\n{\"half\":";
  for (std::size_t size = 1; size <= text.size(); ++size)
    EXPECT_THAT(lines_of(text, size), ElementsAre("{\"a\":\"日本\"}", "{\"b\":2}")) << size;
}

TEST(LineCutter, ALineWithoutEndIsRefused) {
  EXPECT_THROW(lines_of(std::string(2000, 'x'), 100), Error);
}

TEST(MemberText, FindsTheObjectsOwnMembers) {
  const std::string event =
      R"( {"nested":{"type":"no","object":[]},"list":["type",{"type":1}],"text":"\"type\":",
    "type" : "ADDED","object": {"a":[1,{"b":"}"}]} ,"number":-1.5e3,"yes":true})";
  EXPECT_EQ(member_text(event, "type"), "\"ADDED\"");
  EXPECT_EQ(member_text(event, "object"), R"({"a":[1,{"b":"}"}]})");
  EXPECT_EQ(member_text(event, "number"), "-1.5e3");
  EXPECT_EQ(member_text(event, "yes"), "true");
  EXPECT_EQ(member_text(event, "absent"), "");
}

TEST(MemberText, HalfAnObjectIsNoTrap) {
  const std::string event = R"({"type":"ADDED","object":{"a":[1,{"b":"}\"]}]}})";
  for (std::size_t size = 0; size < event.size(); ++size) {
    member_text(std::string(event.substr(0, size)), "object");
    member_text(std::string(event.substr(0, size)), "absent");
  }
}

}  // namespace
}  // namespace atl::kube
