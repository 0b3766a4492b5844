// YAML is read as kubectl reads it. kubectl 1.34 printed its reading of each text in yaml.json;
// tests/e2e/custom_resource asks the installed kubectl again.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "job/valid_manifest.h"
#include "job/yaml.h"

namespace atl {
namespace {

using Json = nlohmann::json;

class Kubectl : public testing::TestWithParam<Json> {};

/// What the engine makes of a text, as JSON; or the words with which it refuses it.
Json taken(const std::string& yaml) {
  try {
    return parse_json(to_json(parse_yaml_value(yaml + "\n", "test")));
  } catch (const Error& error) {
    return {{"refused", error.what()}};
  }
}

TEST_P(Kubectl, ReadsTheSame) {
  const Json& row = GetParam();
  const std::string yaml = row.at("yaml");
  const Json got = taken(yaml);
  if (row.contains("engine takes")) {  // kubectl refuses it
    EXPECT_EQ(got, row.at("engine takes")) << yaml;
  } else if (row.contains("engine refuses")) {  // so that no text means two things
    EXPECT_NE(got.value("refused", "").find(row.at("engine refuses")), std::string::npos)
        << yaml << " → " << got;
  } else if (row.contains("refused")) {
    EXPECT_TRUE(got.contains("refused")) << yaml << " → " << got;
  } else {
    EXPECT_EQ(got, row.at("kubectl")) << yaml;
  }
}

INSTANTIATE_TEST_SUITE_P(Texts, Kubectl,
                         testing::ValuesIn(parse_json(read_data("yaml.json")).get<std::vector<Json>>()));

TEST(Scalar, NumbersThatJsonCannotHoldAreRefusedWithTheirLine) {
  for (const char* word : {".inf", "-.INF", "+.inf", ".nan"}) {
    const Node node = parse_yaml(std::string("a: 1\nv: ") + word + "\n", "x.yaml").front();
    try {
      to_json(node);
      ADD_FAILURE() << word;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("x.yaml:2"), std::string::npos) << error.what();
    }
  }
}

/// The library alone takes the end of the file for the missing quote, and what is before it for text.
TEST(Scalar, AForgottenQuoteIsAnError) {
  for (const char* text : {"v: 'a\n", "v: \"a\n", "a:\n  v: 'a\n  w: 1\n", "v: 'a\n\n", "v: ['a\n"}) {
    EXPECT_NE(taken(text).value("refused", "").find("not valid YAML"), std::string::npos) << text;
  }
}

TEST(Scalar, SeveralDocumentsAreSeveralTrees) {
  const auto documents =
      parse_yaml("# a comment\n---\na: 1\n---\n---\nb: on\n...\n---\nc: |\n  x\n", "x.yaml");
  ASSERT_EQ(documents.size(), 3u);  // the empty ones are none
  EXPECT_EQ(to_json(documents[0]), R"({"a":1})");
  EXPECT_EQ(to_json(documents[1]), R"({"b":true})");
  EXPECT_EQ(to_json(documents[2]), R"({"c":"x\n"})");
}

}  // namespace
}  // namespace atl
