#include "operator/kube/config.h"

#include <openssl/evp.h>
#include <sys/stat.h>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <tuple>
#include <vector>

#include "job/yaml.h"

namespace atl::kube {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

ClusterConfig in_cluster_config(const std::string& service_account) {
  const std::string host = variable("KUBERNETES_SERVICE_HOST"), port = variable("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty())
    fail("this is not a pod: KUBERNETES_SERVICE_HOST and _PORT aren't set; give a kubeconfig");
  ClusterConfig config;
  const bool is_ipv6 = host.find(':') != std::string::npos;
  config.server = fmt::format("https://{}:{}", is_ipv6 ? "[" + host + "]" : host, port);
  config.credentials =
      credential_files({.ca = service_account + "/ca.crt", .token = service_account + "/token"});
  std::ifstream(service_account + "/namespace") >> config.space;
  if (config.space.empty()) config.space = "default";
  return config;
}

ClusterConfig find_config(const std::string& kubeconfig) {
  if (!kubeconfig.empty()) return read_kubeconfig(kubeconfig);
  if (const auto path = variable("KUBECONFIG"); !path.empty()) return read_kubeconfig(path);
  if (!variable("KUBERNETES_SERVICE_HOST").empty()) return in_cluster_config();
  const std::string usual = variable("HOME") + "/.kube/config";
  if (!std::filesystem::exists(usual))
    fail("no cluster is given: this is not a pod, KUBECONFIG isn't set, and there is no {}", usual);
  return read_kubeconfig(usual);
}

// Kubeconfig files (config.h). Their YAML is read with the meaning that kubectl gives it: see job/yaml.h.

namespace {

/// The text of a member; "" if it is absent or null.
std::string text_of(const Node& map, const std::string& key) {
  const Node* value = map.find(key);
  if (value == nullptr || value->is_null()) return {};
  const auto* text = std::get_if<std::string>(&value->scalar);
  return text ? *text : value->written;
}

bool is_set(const Node& map, const std::string& key) {
  const Node* value = map.find(key);
  return value != nullptr && !value->is_null() && value->scalar != Scalar(false);
}

/// The entry with this name in a list of `{name: …, <what>: {…}}`.
const Node& named(const Node& file, const std::string& what, const std::string& name) {
  std::string known;
  const Node* all = file.find(what + "s");
  for (std::size_t i = 0; all != nullptr && i < all->items.size(); ++i) {
    const Node* found = all->items[i].find(what);
    const std::string here = text_of(all->items[i], "name");
    if (found != nullptr && here == name) return *found;
    known += (known.empty() ? "" : ", ") + here;
  }
  fail("{}: there is no {} '{}'; there is {}", file.where, what, name, known.empty() ? "none" : known);
}

void refuse(const Node& map, const char* key, const char* instead) {
  if (is_set(map, key)) fail("{}: {} is refused: {}", map.find(key)->where, key, instead);
}

void refuse_in_cluster(const Node& cluster) {
  refuse(cluster, "insecure-skip-tls-verify",
         "servers are always verified; give certificate-authority-data instead");
  refuse(cluster, "proxy-url", "proxies aren't used; give an address that can be reached directly");
  refuse(cluster, "tls-server-name", "a certificate must hold the address in `server`");
}

void refuse_in_user(const Node& user) {
  refuse(user, "exec", "plugins aren't run; write a token instead: kubectl create token SERVICEACCOUNT");
  refuse(user, "auth-provider",
         "providers aren't asked; write a token instead: kubectl create token SERVICEACCOUNT");
  refuse(user, "username", "API servers no longer take passwords; write a token or a client certificate");
  refuse(user, "as", "impersonation isn't supported; use a user that has the rights");
}

/// Decodes a member's base64. Line breaks are skipped, as in kubectl, because tools wrap long data.
std::string decoded(const Node& map, const char* key) {
  std::string base64 = text_of(map, key);
  std::erase_if(base64, [](char c) { return c == '\n' || c == '\r'; });
  std::string text(base64.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(base64.data()), int(base64.size()));
  const auto padding = base64.size() - (base64.find_last_not_of('=') + 1);
  if (size < 0 || padding > 2) fail("{}: {} is not base64", map.find(key)->where, key);
  text.resize(std::size_t(size) - padding);
  return text;
}

/// The place of one credential: data in the file, or the path of a file, relative to the kubeconfig's folder.
struct Place {
  const Node& map;
  const std::filesystem::path& folder;

  void read(const std::string& key, std::string& text, std::string& path) const {
    if (is_set(map, key + "-data")) {
      text = decoded(map, (key + "-data").c_str());
    } else if (is_set(map, key)) {
      path = folder / text_of(map, key);
    }
  }
};

CredentialSource credentials_of(const Node& cluster, const Node& user, const std::filesystem::path& folder) {
  Credentials texts;
  CredentialPaths paths;
  Place{cluster, folder}.read("certificate-authority", texts.ca, paths.ca);
  Place{user, folder}.read("client-certificate", texts.certificate, paths.certificate);
  Place{user, folder}.read("client-key", texts.key, paths.key);
  texts.token = text_of(user, "token");
  if (is_set(user, "tokenFile"))
    paths.token = folder / text_of(user, "tokenFile");  // has precedence over `token`, as in kubectl
  const bool is_secure = text_of(cluster, "server").starts_with("https://");
  if (is_secure && texts.ca.empty() && paths.ca.empty())
    fail("{}: cluster has no certificate authority; give certificate-authority-data", cluster.where);
  if (!is_secure && !(texts.token + paths.token).empty())
    fail("{}: a token isn't sent over plain http; give a server with https", cluster.where);
  return credential_files(paths, texts);
}

Node read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("{}: can't be read; give the path of a kubeconfig", path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  auto documents = parse_yaml(text, path);
  if (documents.size() != 1 || documents[0].kind != Node::Kind::kMap) fail("{}: is not a kubeconfig", path);
  return std::move(documents[0]);
}

}  // namespace

ClusterConfig read_kubeconfig(const std::string& path, const std::string& context) {
  const Node file = read_file(path);
  const std::string chosen = context.empty() ? text_of(file, "current-context") : context;
  if (chosen.empty()) fail("{}: has no current-context; set one: kubectl config use-context NAME", path);
  const Node& present = named(file, "context", chosen);
  const Node& cluster = named(file, "cluster", text_of(present, "cluster"));
  const Node& user = named(file, "user", text_of(present, "user"));
  refuse_in_cluster(cluster);
  refuse_in_user(user);
  ClusterConfig config;
  config.server = text_of(cluster, "server");
  while (config.server.ends_with('/')) config.server.pop_back();
  config.space = text_of(present, "namespace");
  if (config.space.empty()) config.space = "default";
  config.credentials = credentials_of(cluster, user, std::filesystem::path(path).parent_path());
  return config;
}

namespace {

/// Identifies a file's content: the same stamp means that the file hasn't been written since.
using Stamp = std::tuple<dev_t, ino_t, off_t, time_t, long>;

Stamp stamp_of(const std::string& path) {
  struct stat at {};
  if (stat(path.c_str(), &at) != 0) return {};
  return {at.st_dev, at.st_ino, at.st_size, at.st_mtim.tv_sec, at.st_mtim.tv_nsec};
}

/// The file's text without trailing blanks; "" if it can't be read.
std::string text_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

/// One of the credentials' texts, and the file that it comes from, if any.
struct Part {
  const char* what;
  std::string path;
  std::string Credentials::*text;
  Stamp stamp;
};

class CredentialFiles {
 public:
  CredentialFiles(const CredentialPaths& paths, const Credentials& texts)
      : parts_{{{"certificate authority", paths.ca, &Credentials::ca, {}},
                {"client certificate", paths.certificate, &Credentials::certificate, {}},
                {"client key", paths.key, &Credentials::key, {}},
                {"token", paths.token, &Credentials::token, {}}}},
        present_(std::make_shared<const Credentials>(texts)) {
    renew();
    for (const Part& part : parts_) {
      if (!part.path.empty() && ((*present_).*part.text).empty())
        fail("{}: the {} can't be read, or is empty", part.path, part.what);
    }
  }

  std::shared_ptr<const Credentials> present() {
    std::lock_guard lock(mutex_);
    renew();
    return present_;
  }

 private:
  void renew() {
    for (Part& part : parts_) {
      if (part.path.empty()) continue;
      const Stamp stamp = stamp_of(part.path);
      if (stamp == part.stamp) continue;
      const std::string text = text_in(part.path);
      if (text.empty()) continue;
      auto renewed = std::make_shared<Credentials>(*present_);
      (*renewed).*part.text = text;
      present_ = std::move(renewed);
      part.stamp = stamp;  // taken before reading, so that a later change is read again
    }
  }

  std::mutex mutex_;
  std::array<Part, 4> parts_;
  std::shared_ptr<const Credentials> present_;
};

}  // namespace

CredentialSource credential_files(const CredentialPaths& paths, const Credentials& texts) {
  return [files = std::make_shared<CredentialFiles>(paths, texts)] { return files->present(); };
}

}  // namespace atl::kube
