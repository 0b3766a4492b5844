// Which cluster a configuration names, and why some are refused.
#include "operator/kube/config.h"

#include <gmock/gmock.h>
#include <openssl/evp.h>

#include <cstdlib>

#include "base/error.h"
#include "dataset/source_files.h"

namespace atl::kube {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string base64(const std::string& text) {
  std::string all((text.size() + 2) / 3 * 4 + 1, '\0');
  const auto* from = reinterpret_cast<const unsigned char*>(text.data());
  all.resize(
      std::size_t(EVP_EncodeBlock(reinterpret_cast<unsigned char*>(all.data()), from, int(text.size()))));
  return all;
}

/// Sets or removes an environment variable while it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

struct Kubeconfig : testing::Test {
  TemporaryFolder folder;

  /// A context `here` with these members of its cluster and its user.
  ClusterConfig read(const std::string& cluster, const std::string& user, const std::string& context = "") {
    write_text(folder / "config",
               "apiVersion: v1\nkind: Config\ncurrent-context: here\ncontexts:\n"
               "- name: here\n  context: {cluster: c, user: u, namespace: mine}\n"
               "- name: there\n  context: {cluster: absent, user: u}\n"
               "clusters:\n- name: c\n  cluster: {" +
                   cluster +
                   "}\n"
                   "users:\n- name: u\n  user: {" +
                   user + "}\n");
    return read_kubeconfig((folder / "config").string(), context);
  }
  std::string refusal(const std::string& cluster, const std::string& user, const std::string& context = "") {
    try {
      read(cluster, user, context);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  const std::string good_cluster =
      "server: 'https://10.0.0.1:6443/', certificate-authority-data: " + base64("CA");
};

TEST_F(Kubeconfig, DataStandsInTheFile) {
  const ClusterConfig config = read(
      good_cluster, "client-certificate-data: " + base64("CERT") + ", client-key-data: " + base64("KEY1"));
  EXPECT_EQ(config.server, "https://10.0.0.1:6443");
  EXPECT_EQ(config.space, "mine");
  const auto credentials = config.credentials();
  EXPECT_EQ(credentials->ca, "CA");
  EXPECT_EQ(credentials->certificate, "CERT");
  EXPECT_EQ(credentials->key, "KEY1");
  EXPECT_EQ(credentials->token, "");
}

TEST_F(Kubeconfig, DataMayBeWrapped) {
  const std::string whole = base64("an authority of some length");
  const std::string wrapped = whole.substr(0, 10) + "\\n" + whole.substr(10) + "\\r\\n";
  const std::string cluster = "server: 'https://a:1', certificate-authority-data: \"" + wrapped + "\"";
  EXPECT_EQ(read(cluster, "token: t").credentials()->ca, "an authority of some length");
}

TEST_F(Kubeconfig, FilesLieBesideIt) {
  write_text(folder / "ca.crt", "CA\n");
  write_text(folder / "pki/us.crt", "CERT");
  write_text(folder / "pki/us.key", "KEY");
  write_text(folder / "token", "secret\n");
  const ClusterConfig config =
      read("server: 'https://a:1', certificate-authority: ca.crt",
           "client-certificate: pki/us.crt, client-key: " + (folder / "pki/us.key").string() +
               ", tokenFile: token, token: other");
  const auto credentials = config.credentials();
  EXPECT_EQ(credentials->ca, "CA");
  EXPECT_EQ(credentials->certificate, "CERT");
  EXPECT_EQ(credentials->key, "KEY");
  EXPECT_EQ(credentials->token, "secret") << "a file goes before the text, as in kubectl";
}

TEST_F(Kubeconfig, ATokenThatLooksLikeANumberIsText) {
  EXPECT_EQ(read(good_cluster, "token: 0123").credentials()->token, "0123");
}

TEST_F(Kubeconfig, WhatIsNotDoneIsRefusedByNameWithARemedy) {
  EXPECT_THAT(refusal(good_cluster + ", insecure-skip-tls-verify: true", "token: t"),
              AllOf(HasSubstr("config:11: insecure-skip-tls-verify is refused"),
                    HasSubstr("certificate-authority-data")));
  EXPECT_EQ(refusal(good_cluster + ", insecure-skip-tls-verify: false", "token: t"), "");
  EXPECT_THAT(refusal(good_cluster, "exec: {command: aws}"),
              AllOf(HasSubstr("config:14: exec is refused"), HasSubstr("kubectl create token")));
  EXPECT_THAT(refusal(good_cluster, "auth-provider: {name: gcp}"), HasSubstr("auth-provider is refused"));
  EXPECT_THAT(refusal(good_cluster, "username: a, password: b"), HasSubstr("username is refused"));
  EXPECT_THAT(refusal(good_cluster, "token: t, as: root"), HasSubstr("as is refused"));
  EXPECT_THAT(refusal(good_cluster + ", proxy-url: 'http://p'", "token: t"),
              HasSubstr("proxy-url is refused"));
  EXPECT_THAT(refusal(good_cluster + ", tls-server-name: x", "token: t"),
              HasSubstr("tls-server-name is refused"));
}

TEST_F(Kubeconfig, WhatIsWrongIsNamed) {
  EXPECT_THAT(refusal("server: 'https://a:1'", "token: t"), HasSubstr("no certificate authority"));
  EXPECT_THAT(refusal("server: 'http://a:1'", "token: t"), HasSubstr("plain http"));
  EXPECT_THAT(refusal("server: 'https://a:1', certificate-authority-data: '%%%'", "token: t"),
              HasSubstr("certificate-authority-data is not base64"));
  EXPECT_THAT(refusal("server: 'https://a:1', certificate-authority-data: '===='", "token: t"),
              HasSubstr("certificate-authority-data is not base64"));
  EXPECT_THAT(refusal("server: 'https://a:1', certificate-authority: gone.crt", "token: t"),
              AllOf(HasSubstr("gone.crt"), HasSubstr("can't be read")));
  EXPECT_THAT(refusal(good_cluster, "token: t", "nowhere"),
              HasSubstr("no context 'nowhere'; there is here, there"));
  EXPECT_THAT(refusal(good_cluster, "token: t", "there"), HasSubstr("no cluster 'absent'; there is c"));
  EXPECT_THROW(read_kubeconfig((folder / "none").string()), Error);
  write_text(folder / "config", "- 1\n");
  EXPECT_THROW(read_kubeconfig((folder / "config").string()), Error);
}

struct InCluster : testing::Test {
  TemporaryFolder folder;
  Variable host{"KUBERNETES_SERVICE_HOST", "10.96.0.1"}, port{"KUBERNETES_SERVICE_PORT", "443"};
};

TEST_F(InCluster, ServerNamespaceAndCredentialsAreThePods) {
  write_text(folder / "ca.crt", "CA");
  write_text(folder / "token", "one");
  write_text(folder / "namespace", "atoll-system");
  const ClusterConfig config = in_cluster_config(folder.path().string());
  EXPECT_EQ(config.server, "https://10.96.0.1:443");
  EXPECT_EQ(config.space, "atoll-system");
  EXPECT_EQ(config.credentials()->token, "one");
}

TEST_F(InCluster, AnIpv6ClusterIsReachedByItsAddress) {
  write_text(folder / "ca.crt", "CA");
  write_text(folder / "token", "one");
  const Variable six("KUBERNETES_SERVICE_HOST", "fd00::1");
  EXPECT_EQ(in_cluster_config(folder.path().string()).server, "https://[fd00::1]:443");
}

// The kubelet writes a new folder and swaps a symbolic link, so that path and size stay as they are.
TEST_F(InCluster, RenewedFilesAreReadAgain) {
  namespace fs = std::filesystem;
  for (const char* generation : {"one", "two"}) {
    write_text(folder / generation / "token", generation);
    write_text(folder / generation / "ca.crt", std::string("CA ") + generation);
  }
  fs::create_directory_symlink("one", folder / "..data");
  for (const char* file : {"token", "ca.crt"}) fs::create_symlink(fs::path("..data") / file, folder / file);
  const auto credentials = in_cluster_config(folder.path().string()).credentials;
  EXPECT_EQ(credentials()->token, "one");
  fs::create_directory_symlink("two", folder / "..new");
  fs::rename(folder / "..new", folder / "..data");
  EXPECT_EQ(credentials()->token, "two");
  EXPECT_EQ(credentials()->ca, "CA two");
}

TEST_F(InCluster, AFileThatIsGoneOrEmptyLeavesWhatThereWas) {
  write_text(folder / "ca.crt", "CA");
  write_text(folder / "token", "one");
  const auto credentials = in_cluster_config(folder.path().string()).credentials;
  std::filesystem::remove(folder / "token");
  write_text(folder / "ca.crt", "");
  EXPECT_EQ(credentials()->token, "one");
  EXPECT_EQ(credentials()->ca, "CA");
  write_text(folder / "token", "later");
  EXPECT_EQ(credentials()->token, "later");
}

TEST_F(InCluster, OutsideAPodItIsAnError) {
  EXPECT_THROW(in_cluster_config(folder.path().string()), Error) << "no files";
  const Variable none("KUBERNETES_SERVICE_HOST", nullptr);
  EXPECT_THROW(in_cluster_config(folder.path().string()), Error);
}

TEST_F(Kubeconfig, TheOneGivenGoesBeforeTheRest) {
  read(good_cluster, "token: t");
  const Variable unset("KUBERNETES_SERVICE_HOST", nullptr);
  const std::string given = (folder / "config").string();
  EXPECT_EQ(find_config(given).space, "mine");
  const Variable variable("KUBECONFIG", given.c_str());
  EXPECT_EQ(find_config().space, "mine");
}

}  // namespace
}  // namespace atl::kube
