#include "operator/kube/credential_files.h"

#include <sys/stat.h>

#include <array>
#include <fstream>
#include <iterator>
#include <mutex>
#include <tuple>

namespace atl::kube {
namespace {

/// When a file was written last, and whether it is still the same one.
using Stamp = std::tuple<dev_t, ino_t, off_t, time_t, long>;

Stamp stamp_of(const std::string& path) {
  struct stat at {};
  if (stat(path.c_str(), &at) != 0) return {};
  return {at.st_dev, at.st_ino, at.st_size, at.st_mtim.tv_sec, at.st_mtim.tv_nsec};
}

/// The file's text without blanks at its end; "" where it can't be read.
std::string text_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

/// One of the texts and the file that it comes from, if any.
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
      part.stamp = stamp;  // taken before reading: what changes meanwhile is read again
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
