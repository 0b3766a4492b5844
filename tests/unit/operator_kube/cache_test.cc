// The contents of a cache, and its notices of every change.
#include "operator/kube/cache.h"

#include <gmock/gmock.h>

#include <chrono>
#include <future>

namespace atl::kube {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string object(const std::string& name, const std::string& version, const std::string& uid = "u") {
  return R"({"spec":{"metadata":{"name":"not me"}},"metadata":{"name":")" + name + R"(","uid":")" + uid +
         R"(","resourceVersion":")" + version + R"(","namespace":"ns"}})";
}

TEST(ObjectKey, NamesNamespaceUidAndVersion) {
  const ObjectKey key = object_key(object("a", "7"));
  EXPECT_EQ(key.name, "ns/a");
  EXPECT_EQ(key.uid, "u");
  EXPECT_EQ(key.version, "7");
  EXPECT_EQ(object_key(R"({"metadata":{"name":"node1"}})").name, "node1");
  EXPECT_EQ(object_key("[]").name, "");
}

struct CacheTest : testing::Test {
  std::vector<std::string> changes;  // "+a=1" made, "a:1→2" changed, "-a=2" gone
  Cache<std::string> cache{[](std::string_view text) { return object_key(text).version; },
                           [this](const std::string& name, const auto& before, const auto& after) {
                             if (!before) return changes.push_back("+" + name + "=" + *after);
                             if (!after) return changes.push_back("-" + name + "=" + *before);
                             changes.push_back(name + ":" + *before + "→" + *after);
                           }};
};

TEST_F(CacheTest, ChangesAreTold) {
  cache.put(object("a", "1"));
  cache.put(object("a", "2"));
  cache.remove(object("a", "3"));
  cache.remove(object("a", "3"));
  EXPECT_THAT(changes, ElementsAre("+ns/a=1", "ns/a:1→2", "-ns/a=2"));
  EXPECT_EQ(cache.find("ns/a"), nullptr);
}

TEST_F(CacheTest, WhatIsUnchangedIsNotTold) {
  cache.put(object("a", "1"));
  changes.clear();
  cache.put(object("a", "1"));
  EXPECT_THAT(changes, IsEmpty());
  EXPECT_EQ(*cache.find("ns/a"), "1");
}

TEST_F(CacheTest, AnObjectMadeAnewIsAnother) {
  cache.put(object("a", "1", "first"));
  changes.clear();
  cache.put(object("a", "9", "second"));
  EXPECT_THAT(changes, ElementsAre("-ns/a=1", "+ns/a=9"));
}

TEST_F(CacheTest, WhatAListLacksIsGone) {
  for (const char* name : {"a", "b", "c"}) cache.put(object(name, "1"));
  changes.clear();
  cache.begin_list();
  cache.put(object("a", "1"));
  cache.put(object("b", "2"));
  EXPECT_EQ(cache.size(), 3u) << "nothing goes before the list is whole";
  cache.end_list();
  EXPECT_THAT(changes, ElementsAre("ns/b:1→2", "-ns/c=1"));
  EXPECT_EQ(cache.all().size(), 2u);
}

TEST(Cache, IsReadWhileALargeObjectIsParsed) {
  std::future_status answered = std::future_status::timeout;
  std::future<std::size_t> reader;
  std::function<void()> while_parsing = [] {};
  Cache<std::string> cache{[&](std::string_view text) {
                             while_parsing();
                             return object_key(text).version;
                           },
                           [](const std::string&, const auto&, const auto&) {}};
  cache.put(object("a", "1"));
  while_parsing = [&] {
    reader = std::async(std::launch::async, [&] { return cache.find("ns/a") ? cache.size() : 0; });
    answered = reader.wait_for(std::chrono::seconds(2));
  };
  cache.put(object("large", "2"));
  EXPECT_EQ(answered, std::future_status::ready) << "nobody else may wait for it";
  EXPECT_EQ(reader.get(), 1U) << "what was there before";
  EXPECT_EQ(*cache.find("ns/large"), "2");
}

TEST_F(CacheTest, AListThatFailsAndIsBegunAgainRemovesNothing) {
  for (const char* name : {"a", "b"}) cache.put(object(name, "1"));
  changes.clear();
  cache.begin_list();
  cache.put(object("a", "1"));
  cache.begin_list();
  cache.put(object("b", "1"));
  cache.put(object("a", "1"));
  cache.end_list();
  EXPECT_THAT(changes, IsEmpty());
}

}  // namespace
}  // namespace atl::kube
