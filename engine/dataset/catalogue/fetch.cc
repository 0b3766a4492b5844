#include "dataset/catalogue/fetch.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <system_error>
#include <thread>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/sha256.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

constexpr int kAttempts = 4;  // attempts at a transfer; each continues where the one before broke off

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
struct CloseCurl {
  void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
};

void check_arguments(const std::string& url, const std::string& sha256) {
  const bool scheme = url.starts_with("http://") || url.starts_with("https://") || url.starts_with("file://");
  if (!scheme) fail("'{}' cannot be fetched; give an http://, https:// or file:// URL", url);
  const bool hex =
      std::all_of(sha256.begin(), sha256.end(), [](unsigned char c) { return std::isxdigit(c); });
  if (sha256.size() != 64 || !hex) {
    fail("'{}' is not a SHA-256; give its 64 hex digits, as sha256sum prints them", sha256);
  }
}

/// The file to write. A path that ends in '/' is a folder, whether or not it exists.
fs::path place_of(const std::string& url, const fs::path& place) {
  if (place.has_filename() && !fs::is_directory(place)) return place;
  const std::string path = url.substr(0, url.find_first_of("?#"));
  const std::string name = path.substr(path.rfind('/') + 1);
  if (name.empty() || name == "." || name == "..")
    fail("'{}' doesn't end in a file name; give the file to write", url);
  return place / name;
}

void create_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    fail("{}: cannot be created: {}; {}", folder.string(), error.message(), write_remedy(error.value()));
}

/// Locks the part, and makes it if there is none. Without the lock, two processes could append to it by
/// turns, and one of them after the other has checked the file. If the file system has no locks, the part
/// isn't locked.
Descriptor lock_part(const fs::path& part) {
  for (;;) {
    Descriptor file(::open(part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (file.get() < 0) fail("{}: cannot be written; choose another place", part.string());
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      fail("{}: another process fetches it; wait for that process, or choose another place", part.string());
    if (still_named(file.get(), part)) return file;  // otherwise another process has just moved or removed it
  }
}

/// One transfer's state as libcurl's callbacks see it.
struct Transfer {
  std::FILE* file;
  Index already;
  const FetchProgress& progress;
  const fs::path& netrc;
  bool disk_failed = false;
};

std::size_t on_data(char* data, std::size_t size, std::size_t count, void* user) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  const std::size_t wrote = std::fwrite(data, size, count, transfer.file);
  transfer.disk_failed = wrote != count;
  return wrote * size;
}

int on_progress(void* user, curl_off_t total, curl_off_t done, curl_off_t, curl_off_t) {
  const Transfer& transfer = *static_cast<Transfer*>(user);
  if (transfer.progress) transfer.progress(transfer.already + done, total > 0 ? transfer.already + total : 0);
  return 0;
}

void configure(CURL* curl, const std::string& url, Transfer& transfer, char* message) {
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https,file");
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 30L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);  // bytes/s: a stalled server is abandoned …
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, 60L);  // … after this many seconds
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, message);
  curl_easy_setopt(curl, CURLOPT_RESUME_FROM_LARGE, curl_off_t(transfer.already));
  if (!transfer.netrc.empty()) {
    curl_easy_setopt(curl, CURLOPT_NETRC, long(CURL_NETRC_OPTIONAL));
    curl_easy_setopt(curl, CURLOPT_NETRC_FILE, transfer.netrc.c_str());
  }
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_data);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
}

struct Outcome {
  CURLcode code;
  long http_status;
  std::string message;
};

/// Continues `part`, or begins it.
Outcome transfer_once(const std::string& url, const fs::path& part, const FetchProgress& progress,
                      const fs::path& netrc) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(part.c_str(), "ab"));
  if (!file) fail("{}: cannot be written; choose another place", part.string());
  const std::unique_ptr<CURL, CloseCurl> curl(curl_easy_init());
  ATOLL_CHECK(curl, "libcurl does not start");
  char message[CURL_ERROR_SIZE] = "";
  Transfer transfer{file.get(), Index(fs::file_size(part)), progress, netrc};
  configure(curl.get(), url, transfer, message);
  Outcome outcome{curl_easy_perform(curl.get()), 0, ""};
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &outcome.http_status);
  outcome.message = message[0] ? message : curl_easy_strerror(outcome.code);
  if (std::fflush(file.get()) != 0 || transfer.disk_failed) {
    fail("{}: cannot be written; free space there or choose another place", part.string());
  }
  return outcome;
}

bool is_transient(const Outcome& outcome) {
  return outcome.code == CURLE_PARTIAL_FILE || outcome.code == CURLE_RECV_ERROR ||
         outcome.code == CURLE_GOT_NOTHING || outcome.code == CURLE_OPERATION_TIMEDOUT ||
         outcome.code == CURLE_SEND_ERROR ||
         (outcome.code == CURLE_HTTP_RETURNED_ERROR && outcome.http_status >= 500);
}

/// Whether the server cannot continue: it knows no ranges, or the part is at least as long as its file.
bool cannot_resume(const Outcome& outcome) {
  return outcome.code == CURLE_RANGE_ERROR || outcome.code == CURLE_BAD_DOWNLOAD_RESUME ||
         outcome.code == CURLE_FILE_COULDNT_READ_FILE || outcome.http_status == 416;
}

void transfer_all(const std::string& url, const fs::path& part, const FetchProgress& progress,
                  const fs::path& netrc) {
  Outcome outcome{};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(std::chrono::milliseconds(100 << attempt));
    outcome = transfer_once(url, part, progress, netrc);
    if (outcome.code == CURLE_OK) return;
    if (cannot_resume(outcome) && fs::file_size(part) > 0) {
      fs::resize_file(part, 0);
    } else if (!is_transient(outcome)) {
      break;
    }
  }
  if (fs::file_size(part) == 0) fs::remove(part);
  fail("{}: cannot be fetched: {}; check the URL and the network{}", url, outcome.message,
       fs::exists(part) ? fmt::format(", and run the same command to continue from {}", part.string()) : "");
}

/// Whether the file has been fetched already. Throws Error if a file with another SHA-256 is there.
bool is_there(const fs::path& file, const std::string& wanted) {
  if (!fs::exists(file)) return false;
  if (sha256_of_file(file) == wanted) return true;
  fail("{}: exists already with another SHA-256; remove it or choose another place", file.string());
}

}  // namespace

fs::path fetch(const std::string& url, const std::string& sha256, const fs::path& place,
               const FetchProgress& progress, const fs::path& netrc) {
  check_arguments(url, sha256);
  if (!netrc.empty() && !std::ifstream(netrc))
    fail("{}: cannot be read; give a netrc file: machine HOST login USER password WORD", netrc.string());
  std::string wanted = sha256;
  std::transform(wanted.begin(), wanted.end(), wanted.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  const fs::path file = place_of(url, place), part = file.string() + ".part";
  if (is_there(file, wanted)) return file;
  if (file.has_parent_path()) create_folder(file.parent_path());
  const Descriptor lock = lock_part(part);
  if (is_there(file, wanted)) {  // another process has fetched it since we looked, and the part is a new one
    fs::remove(part);
    return file;
  }
  const bool continued = fs::file_size(part) > 0;
  std::string actual = continued ? sha256_of_file(part) : std::string();
  if (actual != wanted) {
    transfer_all(url, part, progress, netrc);
    actual = sha256_of_file(part);
  }
  if (actual != wanted && continued) {  // the part was of another file, or damaged: begins again
    fs::resize_file(part, 0);
    transfer_all(url, part, progress, netrc);
    actual = sha256_of_file(part);
  }
  if (actual != wanted) {
    fs::remove(part);
    fail("{}: has SHA-256 {}, not {}; the file was removed: check the URL and the checksum, and fetch again",
         url, actual, wanted);
  }
  fs::rename(part, file);
  return file;
}

}  // namespace atl
