// Processes that ask each other by name: all answers come in the time of one, and nobody waits for a process
// that hangs.
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "http/http_endpoint.h"

namespace atl {
namespace {

using namespace std::chrono_literals;

LocalName name(const std::string& last) {
  return {"atoll-test-" + std::to_string(getpid()) + "-" + last};
}

HttpPages pages(const std::string& body) {
  return {{"/page",
           [body] {
             return HttpPage{"text/plain", body};
           }},
          {"/broken", []() -> HttpPage { throw Error("it broke"); }}};
}

TEST(AskLocal, EachAnswersForItself) {
  const std::string large(300'000, 'x');  // more than a socket holds
  const HttpEndpoint one(name("one"), pages("first")), two(name("two"), pages(large));
  const auto answers = ask_local(std::vector{name("one"), name("two"), name("one")}, "/page", 5s);
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0], "first");
  EXPECT_EQ(answers[1], large);
  EXPECT_EQ(answers[2], "first");
  EXPECT_TRUE(ask_local({}, "/page", 5s).empty());
}

TEST(AskLocal, WhoHangsIsMissingAndHoldsNobodyUp) {
  const HttpEndpoint one(name("one"), pages("first"));
  const Descriptor hangs = listen_at(name("hangs"));  // accepts nobody
  const auto begin = std::chrono::steady_clock::now();
  const auto answers = ask_local(std::vector{name("hangs"), name("nobody"), name("one")}, "/page", 300ms);
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(answers[0], std::nullopt);
  EXPECT_EQ(answers[1], std::nullopt);
  EXPECT_EQ(answers[2], "first");
  EXPECT_GE(took, 300ms);
  EXPECT_LT(took, 2s);
}

TEST(AskLocal, WhatIsNoPageIsNothing) {
  const HttpEndpoint one(name("one"), pages("first"));
  EXPECT_EQ(ask_local(std::vector{name("one")}, "/other", 5s)[0], std::nullopt);
  EXPECT_EQ(ask_local(std::vector{name("one")}, "/broken", 5s)[0], std::nullopt);
}

TEST(AskLocal, ATakenNameIsRefusedAndFreeAgainAfterwards) {
  {
    const HttpEndpoint one(name("one"), pages("first"));
    EXPECT_THROW(HttpEndpoint(name("one"), pages("second")), Error);
  }
  const HttpEndpoint again(name("one"), pages("second"));
  EXPECT_EQ(ask_local(std::vector{name("one")}, "/page", 5s)[0], "second");
}

}  // namespace
}  // namespace atl
