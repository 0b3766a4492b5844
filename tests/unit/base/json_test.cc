// JSON by way of base/json.h: dump() is our own definition of the library's member, so its arguments are
// tried here one by one.
#include "base/json.h"

#include <gmock/gmock.h>

#include <sstream>

namespace atl {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using testing::HasSubstr;

const std::string kText = R"({"b": [1, 2.5, true, null], "a": {"c": "d"}})";

template <class Document>
class Dump : public testing::Test {};
using Documents = testing::Types<json, ordered_json>;
TYPED_TEST_SUITE(Dump, Documents);

TYPED_TEST(Dump, WritesOneLineOrIndents) {
  const TypeParam document{{"a", {1, 2}}};
  EXPECT_EQ(document.dump(), R"({"a":[1,2]})");
  EXPECT_EQ(document.dump(0), "{\n\"a\": [\n1,\n2\n]\n}");
  EXPECT_EQ(document.dump(2), "{\n  \"a\": [\n    1,\n    2\n  ]\n}");
  EXPECT_EQ(document.dump(1, '\t'), "{\n\t\"a\": [\n\t\t1,\n\t\t2\n\t]\n}");
}

TYPED_TEST(Dump, EscapesWhatIsAsked) {
  const TypeParam text = "é\n";
  EXPECT_EQ(text.dump(), "\"é\\n\"");
  EXPECT_EQ(text.dump(-1, ' ', true), R"("\u00e9\n")");
}

TYPED_TEST(Dump, TreatsBytesThatAreNotUtf8AsAsked) {
  const TypeParam text =
      "a\xff"
      "b";
  EXPECT_THROW(text.dump(), typename TypeParam::type_error);
  EXPECT_EQ(text.dump(-1, ' ', false, TypeParam::error_handler_t::replace),
            "\"a\xEF\xBF\xBD"
            "b\"");
  EXPECT_EQ(text.dump(-1, ' ', false, TypeParam::error_handler_t::ignore), "\"ab\"");
}

TYPED_TEST(Dump, IsWhatAStreamIsGiven) {
  const TypeParam document{{"a", "b"}};
  std::ostringstream line, indented;
  line << document;
  indented.width(2);
  indented << document;
  EXPECT_EQ(line.str(), document.dump());
  EXPECT_EQ(indented.str(), document.dump(2));
}

TEST(ParseJson, ReadsTextsAndStreams) {
  const json expected{{"a", {{"c", "d"}}}, {"b", {1, 2.5, true, nullptr}}};
  std::istringstream stream(kText);
  EXPECT_EQ(parse_json(kText), expected);
  EXPECT_EQ(parse_json(stream), expected);
  EXPECT_EQ(json_or_discarded(kText), expected);
}

TEST(ParseJson, KeepsTheOrderOfKeysWhereAsked) {
  const std::string in_order = R"({"b":[1,2.5,true,null],"a":{"c":"d"}})";
  EXPECT_EQ(parse_ordered_json(kText).dump(), in_order);
  EXPECT_EQ(ordered_json_or_discarded(kText).dump(), in_order);
  EXPECT_EQ(parse_json(kText).dump(), R"({"a":{"c":"d"},"b":[1,2.5,true,null]})");
}

TEST(ParseJson, SaysWhereATextIsNone) {
  try {
    parse_json("{\"a\": 1,\n ?}");
    FAIL() << "no exception";
  } catch (const json::parse_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("line 2, column 2"));
  }
  std::istringstream stream("[1");
  EXPECT_THROW(parse_json(stream), json::parse_error);
  EXPECT_THROW(parse_ordered_json(""), ordered_json::parse_error);
}

TEST(ParseJson, DiscardsWhatIsNoneWhereAsked) {
  EXPECT_TRUE(json_or_discarded("[1").is_discarded());
  EXPECT_TRUE(ordered_json_or_discarded("[1] 2").is_discarded());
  EXPECT_FALSE(json_or_discarded("null").is_discarded());
}

}  // namespace
}  // namespace atl
