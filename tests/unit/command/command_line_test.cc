// The command line as users meet it: values, typos, help.
#include "command/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "command/commands.h"

namespace atl {
namespace {

using testing::HasSubstr;

struct Result {
  int status;
  std::string out, err;
};

Result run(std::vector<std::string> words, std::span<const Command> table) {
  words.insert(words.begin(), "atoll");
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status = run_command_line(int(pointers.size()), pointers.data(), table);
  return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

std::string seen;

const std::vector<Command>& table() {
  static const std::vector<Command> commands{
      {"run",
       "train",
       {{"-f,--file", "FILE", "the manifest", true},
        {"--set", "X", "change", false, true},
        {"--fresh", "", "start over"}},
       [](const Arguments& a) {
         seen = a.get("--file") + "|";
         for (const auto& set : a.all("--set")) seen += set + ";";
         seen += a.has("--fresh") ? "|fresh" : "|";
         return 7;
       }},
      {"dataset import",
       "read",
       {{"SRC", "", "source", true}, {"DST", "", "place", true}},
       [](const Arguments& a) {
         seen = a.get("SRC") + ">" + a.get("DST");
         return 0;
       }},
      {"dataset info", "print", {}, [](const Arguments&) { return 0; }}};
  return commands;
}

TEST(CommandLine, GivesACommandItsArgumentsAndReturnsItsStatus) {
  EXPECT_EQ(run({"run", "-f", "x.yaml", "--set", "a=1", "--fresh", "--set", "b={c: 2}"}, table()).status, 7);
  EXPECT_EQ(seen, "x.yaml|a=1;b={c: 2};|fresh");
  EXPECT_EQ(run({"run", "--file=y.yaml"}, table()).status, 7);
  EXPECT_EQ(seen, "y.yaml||");
  EXPECT_EQ(run({"dataset", "import", "from", "to"}, table()).status, 0);
  EXPECT_EQ(seen, "from>to");
}

TEST(CommandLine, ATypoNamesTheNearestWord) {
  EXPECT_EQ(run({"rum"}, table()).err,
            "atoll: unknown command rum (did you mean run? known: run, dataset)\n");
  EXPECT_EQ(run({"dataset", "imprt"}, table()).err,
            "atoll: unknown command dataset imprt (did you mean import? known: import, info)\n");
  EXPECT_EQ(
      run({"run", "-f", "x", "--fersh"}, table()).err,
      "atoll run: unknown option --fersh (did you mean --fresh? known: --file, --set, --fresh, --help)\n");
  EXPECT_EQ(run({"run", "--fil=x"}, table()).status, 2);
}

TEST(CommandLine, AManifestWithoutItsOptionIsTold) {
  const Result result = run({"run", "x.yaml", "--fresh"}, table());
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err, "atoll run: unexpected x.yaml (did you mean -f x.yaml?)\n");
}

/// `--set=$UNSET --fresh` must not set "--fresh", and leave the option itself out.
TEST(CommandLine, AnEmptyValueDoesNotTakeTheNextWord) {
  const std::string says =
      "atoll run: --set is empty (give it a value, or leave it out; is a variable unset?)\n";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", "-f", "x", "--set=", "--fresh"},
        {"run", "-f", "x", "--set="},
        {"run", "-f", "x", "--set", "", "--fresh"}}) {
    seen = "not run";
    const Result result = run(words, table());
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.err, says);
    EXPECT_EQ(seen, "not run");
  }
  EXPECT_EQ(run({"run", "-f", "x", "--set=a="}, table()).status, 7);
  EXPECT_EQ(seen, "x|a=;|");
}

TEST(CommandLine, WhatIsMissingIsAUsageError) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{}, {"run"}, {"dataset"}, {"dataset", "import", "a"}}) {
    const Result result = run(words, table());
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err, "");
  }
  EXPECT_THAT(run({"run"}, table()).err, HasSubstr("--file"));
}

TEST(CommandLine, HelpIsMadeOfTheTable) {
  const Result all = run({"--help"}, table());
  EXPECT_EQ(all.status, 0);
  EXPECT_THAT(all.out, testing::ContainsRegex("dataset +import, info"));
  const Result one = run({"run", "--help"}, table());
  EXPECT_THAT(one.out, HasSubstr("-f,--file FILE"));
  EXPECT_THAT(one.out, HasSubstr("start over"));
}

TEST(CommandLine, VersionIsThatCommand) {
  const Result result = run({"--version"}, commands());
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, testing::StartsWith("atoll 0."));
  EXPECT_EQ(result.out, run({"version"}, commands()).out);
  EXPECT_THAT(run({"--help"}, commands()).out, HasSubstr("--version"));
}

TEST(CommandLine, AProgramOfOneCommandPrintsItsVersion) {
  char name[] = "atoll-operator", option[] = "--version";
  char* words[] = {name, option};
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_program(2, words, {"atoll-operator", "runs jobs", {}, nullptr}, "atoll-operator 1.2"), 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "atoll-operator 1.2\n");
}

TEST(CommandLine, AUsageErrorNamesItsCommand) {
  EXPECT_EQ(run({"run"}, table()).err, "atoll run: --file is required; see atoll run --help\n");
  EXPECT_EQ(run({"dataset", "import", "a"}, table()).err,
            "atoll dataset import: DST is required; see atoll dataset import --help\n");
}

TEST(CommandLine, AnInternalCommandSaysWhoCallsIt) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"train"}, {"train", "job.yaml"}, {"train", "--file", "job.yaml"}}) {
    const Result result = run(words, commands());
    EXPECT_EQ(result.status, kStatusUsage);
    EXPECT_THAT(result.err, HasSubstr("atoll train is internal: atoll run calls it"));
  }
  EXPECT_THAT(run({"prepare"}, commands()).err,
              HasSubstr("atoll prepare is internal: the operator calls it"));
  EXPECT_THAT(run({"run"}, commands()).err, testing::Not(HasSubstr("internal")));
}

TEST(Arguments, NumbersAreChecked) {
  Arguments arguments;
  arguments.add("--ranks", "two");
  arguments.add("--threads", "5000");
  EXPECT_EQ(arguments.integer("--absent", 3, 1, 9), 3);
  try {
    arguments.integer("--ranks", 1, 1, 9);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "--ranks: 'two' is not allowed (use an integer, 1 … 9)");
  }
  EXPECT_THROW(arguments.integer("--threads", 1, 1, 4096), Error);
}

TEST(Commands, EachIsNamedOnceAndExplained) {
  std::set<std::string> names;
  for (const auto& command : commands()) {
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
    EXPECT_NE(command.run, nullptr) << command.name;
    EXPECT_FALSE(command.help.empty()) << command.name;
    for (const auto& argument : command.arguments)
      EXPECT_FALSE(argument.help.empty()) << command.name << argument.name;
    auto words = words_of(command.name);
    words.push_back("--help");
    EXPECT_EQ(run(words, commands()).status, 0) << command.name;
  }
}

}  // namespace
}  // namespace atl
