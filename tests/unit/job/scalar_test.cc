// Scalars mean what kubectl takes them for. The right-hand sides were printed by sigs.k8s.io/yaml 1.6
// (YAMLToJSONStrict), the library that kubectl and the API server read manifests with.
#include "job/scalar.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "job/yaml.h"

namespace atl {
namespace {

struct Case {
  const char* yaml;
  const char* json;
};

const Case kCases[] = {
    {"on", "true"},
    {"On", "true"},
    {"oN", R"("oN")"},
    {"off", "false"},
    {"yes", "true"},
    {"no", "false"},
    {"y", "true"},
    {"N", "false"},
    {"true", "true"},
    {"True", "true"},
    {"tRUE", R"("tRUE")"},
    {"false", "false"},
    {"~", "null"},
    {"null", "null"},
    {"Null", "null"},
    {"", "null"},
    {"010", "8"},
    {"08", "8"},
    {"0o10", "8"},
    {"0x1F", "31"},
    {"0X1f", "31"},
    {"0b101", "5"},
    {"-0b101", "-5"},
    {"0777", "511"},
    {"00", "0"},
    {"-010", "-8"},
    {"+010", "8"},
    {"-0x10", "-16"},
    {"-0", "0"},
    {"1_000", "1000"},
    {"1__0", "10"},
    {"0_1", "1"},
    {"_1", R"("_1")"},
    {"1_0.5", "10.5"},
    {"0.1_5", "0.15"},
    {"._5", R"("._5")"},
    {"1e3", "1000"},
    {"1E3", "1000"},
    {"1e3_", "1000"},
    {"12e03", "12000"},
    {"1.e3", "1000"},
    {"1e-3", "0.001"},
    {"5e-4", "0.0005"},
    {".5", "0.5"},
    {"5.", "5"},
    {"+5", "5"},
    {"-5", "-5"},
    {"+.5", "0.5"},
    {"-.5", "-0.5"},
    {"1.0", "1"},
    {"1.5e400", R"("1.5e400")"},
    {"0x1p3", R"("0x1p3")"},
    {"0x", R"("0x")"},
    {"0b2", R"("0b2")"},
    {"+", R"("+")"},
    {"1:30", R"("1:30")"},
    {"190:20:30", R"("190:20:30")"},
    {"2001-01-01", R"("2001-01-01")"},
    {"infinity", R"("infinity")"},
    {"NaN", R"("NaN")"},
    {".infinity", R"(".infinity")"},
    {"16Gi", R"("16Gi")"},
    {"200k", R"("200k")"},
    {"=", R"("=")"},
    {"50 # c", "50"},
    {"\"50\"", R"("50")"},
    {"'on'", R"("on")"},
    {"!!str 50", R"("50")"},
    {"!!int 50", "50"},
    {"!!int \"50\"", "50"},
    {"!!bool yes", "true"},
    {"!foo 5", R"("5")"},
    {"9223372036854775807", "9223372036854775807"},
};

class Kubectl : public testing::TestWithParam<Case> {};

TEST_P(Kubectl, ReadsTheSame) {
  const Node map = parse_yaml_value(std::string("v: ") + GetParam().yaml + "\n", "test");
  EXPECT_EQ(to_json(*map.find("v")), GetParam().json) << "v: " << GetParam().yaml;
}

INSTANTIATE_TEST_SUITE_P(Scalars, Kubectl, testing::ValuesIn(kCases));

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

TEST(Scalar, KeysBecomeTheWordsThatJsonHas) {
  EXPECT_EQ(to_json(parse_yaml_value("{on: 1, 010: 2, 'off': 3}", "test")), R"({"8":2,"off":3,"true":1})");
}

}  // namespace
}  // namespace atl
