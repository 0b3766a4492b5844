// The contract of every Transport, on a real API server: the one of the kubeconfig that $ATOLL_KUBECONFIG
// names, where our custom resource is installed. tests/e2e/real_transport starts one; the long suite on a
// cluster has its own.
#include <cstdlib>
#include <set>

#include "base/json.h"
#include "dataset/source_files.h"
#include "operator/kube/client.h"
#include "operator/kube/config.h"
#include "operator/kube/json_cut.h"
#include "operator/kube/transport.h"
#include "operator_kube/transports.h"

namespace atl::kube {
namespace {

using nlohmann::json;
using std::chrono::seconds;

const Selection kOurs{"atoll.dev/test=conformance", ""};
constexpr Milliseconds kPatience{10'000};

std::string path(const std::string& name = {}) {
  return Resource{"", "v1", "configmaps"}.path("default", name);
}

std::string config_map(const std::string& name) {
  return json{{"metadata", {{"name", name}, {"labels", {{"atoll.dev/test", "conformance"}}}}}}.dump();
}

std::string name_in(const std::optional<WatchEvent>& event) {
  return event ? parse_json(event->object)["metadata"].value("name", "") : "the watch's end";
}

class RealServer : public TransportTest {
 protected:
  void SetUp() override {
    const char* kubeconfig = std::getenv("ATOLL_KUBECONFIG");
    if (!kubeconfig)
      GTEST_SKIP() << "needs a Kubernetes, named by $ATOLL_KUBECONFIG: tests/e2e/real_transport";
    config_ = read_kubeconfig(kubeconfig);
    transport_ = as(config_.credentials);
    client_ = std::make_unique<Client>(*transport_);
  }
  void TearDown() override {
    for (const std::string& name : made_) client_->remove(path(name));
  }

  std::unique_ptr<Transport> as(CredentialSource credentials) const {
    return GetParam().make(config_.server, std::move(credentials));
  }
  void make(const std::string& name) {
    const Answer answer = client_->create(path(), config_map(name));
    ASSERT_TRUE(answer) << answer.error->text();
    made_.push_back(name);
  }
  std::string version_now() {
    return client_->list(path(), {.only = kOurs}, [](std::string_view) {}).version;
  }
  std::unique_ptr<Watch> watch(const std::string& version, seconds lifetime) {
    return client_->watch(path(), {.only = kOurs, .version = version, .lifetime = lifetime});
  }

  ClusterConfig config_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Client> client_;
  std::vector<std::string> made_;
};
INSTANTIATE_TEST_SUITE_P(All, RealServer, testing::ValuesIn(kTransports), name_of);

TEST_P(RealServer, AListComesWholeAndInPages) {
  for (int i = 0; i < 25; ++i) make("listed-" + std::to_string(i));
  std::set<std::string> names;
  const Listing listing = client_->list(path(), {.only = kOurs, .page = 10}, [&](std::string_view object) {
    names.insert(object_key(object).name);
  });
  ASSERT_FALSE(listing.error) << listing.error->text();
  EXPECT_EQ(names.size(), 25u);
  std::string page = path() + "?limit=10";
  add_query(page, "labelSelector", kOurs.labels);
  const json first = parse_json(transport_->call(get(page)).body);
  EXPECT_EQ(first["items"].size(), 10u) << "else the list above had no second page";
}

TEST_P(RealServer, AWatchIsResumedFromItsBookmark) {
  const auto first = watch(version_now(), seconds(6));
  make("before");
  EXPECT_EQ(name_in(first->next(kPatience)), "before");
  std::string bookmark;
  while (const auto event =
             first->next(kPatience)) {  // servers send one 2 s before they end a watch in good order
    ASSERT_EQ(event->kind, WatchEvent::Kind::kBookmark);
    bookmark = object_key(event->object).version;
  }
  ASSERT_NE(bookmark, "");
  make("after");
  const auto second = watch(bookmark, seconds(30));
  EXPECT_EQ(name_in(second->next(kPatience)), "after") << "and nothing again that was before the bookmark";
}

TEST_P(RealServer, AWatchThatIsIdlePastHalfAMinuteLives) {
  const auto idle = watch(version_now(), seconds(120));
  EXPECT_EQ(error_of([&] { idle->next(Milliseconds(33'000)); }), Kind::kTimeout);
  make("late");
  EXPECT_EQ(name_in(idle->next(kPatience)), "late");
}

/// Of our own resource, whose history begins when it is installed.
TEST_P(RealServer, AForgottenVersionIsSaidToBeExpired) {
  const auto old = client_->watch(Resource{"atoll.dev", "v1alpha1", "gnnjobs"}.path(), {.version = "1"});
  const auto event = old->next(kPatience);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, WatchEvent::Kind::kExpired) << event->error.text();
  EXPECT_TRUE(event->error.is_expired()) << event->error.text();
}

TEST_P(RealServer, RefusalsAreValues) {
  make("twice");
  EXPECT_TRUE(client_->create(path(), config_map("twice")).error->already_exists());
  EXPECT_TRUE(client_->get(path("never")).error->is_not_found());
  json stale = parse_json(client_->get(path("twice")).object);
  ASSERT_TRUE(client_->patch(path("twice"), R"({"data":{"a":"b"}})", {}));
  const Answer late = client_->replace(path("twice"), stale.dump());
  ASSERT_FALSE(late);
  EXPECT_TRUE(late.error->is_conflict()) << late.error->text();
}

TEST_P(RealServer, AServerOfAnotherAuthorityIsRefused) {
  Credentials credentials = *config_.credentials();
  credentials.ca = Authority("a stranger").pem();
  const auto transport = as(always(credentials));
  EXPECT_EQ(error_of([&] { transport->call(get(path())); }), Kind::kTls);
}

TEST_P(RealServer, ATokenIsReadAgainWhenItChanges) {
  const Credentials credentials = *config_.credentials();
  ASSERT_NE(credentials.token, "") << "this kubeconfig's user has none";
  const TemporaryFolder folder;
  const auto token = folder / "token";
  write_text(token, credentials.token);
  const auto transport = as(credential_files({.token = token.string()}, {.ca = credentials.ca}));
  const auto status = [&] { return transport->call(get(path())).head.status; };
  EXPECT_EQ(status(), 200);
  write_text(token, "not " + credentials.token);
  EXPECT_EQ(status(), 401);
  write_text(token, credentials.token);
  EXPECT_EQ(status(), 200);
}

}  // namespace
}  // namespace atl::kube
