// What the users of a cluster ask for in a day: each job, and what its user does about it later, is drawn
// from its number alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/random.h"
#include "operator/api/json_values.h"
#include "operator/objects/names.h"
#include "operator_api/sample_job.h"

namespace atl::ctl {

using nlohmann::json;

/// The draws of one thing ("job", 17), which don't depend on what else has happened.
class Fate {
 public:
  Fate(std::uint64_t seed, std::string_view thing, std::uint64_t number)
      : draws_(seed, Purpose::kSampling, digest(thing)), number_(number) {}

  /// In [0, 1). `what`: which property of the thing is drawn.
  double uniform(std::string_view what) const { return draws_.uniform_at(number_, digest(what)); }
  bool happens(std::string_view what, double probability) const { return uniform(what) < probability; }
  int below(std::string_view what, int limit) const { return int(uniform(what) * limit); }
  Seconds between(std::string_view what, Seconds least, Seconds most) const {
    return least + Seconds(std::int64_t(uniform(what) * double((most - least).count())));
  }
  /// Until the next of events that don't depend on each other, and at least a second.
  Seconds wait(std::string_view what, double mean_seconds) const {
    return Seconds(1 + std::int64_t(-std::log(1 - uniform(what)) * mean_seconds));
  }

 private:
  static std::uint64_t digest(std::string_view text) {
    std::uint64_t all = 0;
    for (const char c : text) all = mix64(all ^ static_cast<unsigned char>(c));
    return all;
  }

  const Draws draws_;
  const std::uint64_t number_;
};

struct SoakJob {
  int number = 0;
  std::string name, uid;

  // What it needs.
  int servers = 1;
  std::int64_t cores = 1000;  // of a server, in thousandths
  bool is_within_rack = false, is_preferred = false;
  std::string zone;  // where its volume is; "": anywhere
  bool is_urgent = false, is_queued = false;
  bool never_fits = false, is_invalid = false;

  // What its ranks do.
  int seconds = 60;  // of training
  int fails_at = 0;  // seconds of training, in each attempt; 0: never
  bool hangs = false, is_silent = false;

  // What its user does.
  Seconds suspended_after{0}, deleted_after{0};  // from its creation; 0: never
  Seconds pause{0};                              // until it is resumed
  bool is_deleted_last = false;                  // after what it owns
  bool comes_again = false;                      // under the same name, once it is deleted
  int ttl = -1;                                  // seconds; -1: its user deletes it some time after its end
  std::string clean = "Running";
};

inline void draw_needs(const Fate& fate, SoakJob& job) {
  const double size = fate.uniform("size"), where = fate.uniform("where");
  job.servers = size < 0.35 ? 1 : size < 0.65 ? 2 : size < 0.9 ? 8 : 32;
  job.cores = 1000 * (1 + fate.below("cores", 3));
  const bool is_small = job.servers == 2 || job.servers == 8;
  if (where < 0.25)
    job.is_within_rack = is_small;
  else if (where < 0.5)
    job.is_within_rack = job.is_preferred = job.servers > 1;
  else if (where < 0.65 && job.servers <= 8)
    job.zone = std::string(1, char('a' + fate.below("zone", 3)));
  job.is_urgent = fate.happens("urgent", 0.1);
  job.is_queued = job.servers <= 8 && fate.happens("queued", 0.15);
  job.is_invalid = fate.happens("invalid", 0.02);
  job.never_fits = !job.is_invalid && !job.is_queued && fate.happens("never fits", 0.03);
  if (!job.never_fits) return;
  // No node is so large, or no rack has so many nodes.
  const bool is_too_large = fate.happens("too large", 0.5);
  job.servers = is_too_large ? 1 : 11;
  job.cores = is_too_large ? 9000 : 5000;
  job.is_within_rack = !is_too_large;
  job.is_preferred = false;
  job.zone.clear();
}

inline void draw_ranks(const Fate& fate, SoakJob& job) {
  job.seconds = int(std::min<std::int64_t>(1500, 60 + fate.wait("seconds", 600).count()));
  job.is_silent = fate.happens("silent", 0.05);
  if (fate.happens("fails", 0.05)) {
    job.fails_at = 90;
    job.seconds = 600;
  } else if (!job.is_silent && fate.happens("hangs", 0.02)) {
    job.hangs = true;
    job.seconds = 1'000'000;
  }
}

inline void draw_user(const Fate& fate, SoakJob& job) {
  if (fate.happens("suspended", 0.1)) {
    job.suspended_after = fate.between("suspended after", Seconds(30), Seconds(1200));
    job.pause = fate.between("pause", Seconds(60), Seconds(900));
  }
  if (fate.happens("deleted", 0.12) || job.never_fits)
    job.deleted_after = fate.between("deleted after", Seconds(30), Seconds(2400));
  job.is_deleted_last = fate.happens("deleted last", 0.5);
  job.comes_again = fate.happens("comes again", 0.4);
  constexpr int kTtls[] = {0, 60, 300, 900, -1};
  job.ttl = kTtls[fate.below("ttl", 5)];
  const double clean = fate.uniform("clean");
  // Quota is given back at the end, and so must be the pods of a job that has some.
  job.clean = clean < 0.7 || (clean >= 0.85 && job.is_queued) ? "Running" : clean < 0.85 ? "All" : "None";
}

inline SoakJob draw_job(std::uint64_t seed, int number) {
  const Fate fate(seed, "job", std::uint64_t(number));
  SoakJob job;
  job.number = number;
  job.name = "job-" + std::to_string(number);
  job.uid = "uid of " + job.name;
  draw_needs(fate, job);
  draw_ranks(fate, job);
  draw_user(fate, job);
  return job;
}

/// The object that its user creates.
inline json object_for(const SoakJob& job, Moment now) {
  json object = sample_job_json({{"/metadata/name", job.name},
                                 {"/metadata/uid", job.uid},
                                 {"/metadata/creationTimestamp", text_of(now)},
                                 {"/spec/resources/cpu", double(job.cores) / 1000}});
  json& spec = object["spec"];
  spec["placement"] = {{"ranks", job.servers},
                       {"ranksPerServer", 1},
                       {"topologyLevels", {"zone", "rack", "kubernetes.io/hostname"}}};
  if (job.is_within_rack) spec["placement"]["within"] = "rack";
  if (job.is_preferred) spec["placement"]["policy"] = "Preferred";
  if (!job.zone.empty()) spec["dataset"]["volume"]["persistentVolumeClaim"]["claimName"] = "data-" + job.zone;
  if (job.is_urgent) spec["template"]["spec"]["priorityClassName"] = "urgent";
  if (job.is_queued) object["metadata"]["labels"][kQueueLabel] = "team";
  if (job.is_invalid) spec["dataset"].erase("volume");
  spec["runPolicy"] = {{"suspend", false},
                       {"backoffLimit", job.hangs          ? 1
                                        : job.fails_at > 0 ? 2
                                                           : 20},
                       {"progressDeadlineSeconds", job.hangs ? 120 : 1800},
                       {"ttlSecondsAfterFinished", job.ttl},
                       {"cleanPodPolicy", job.clean}};
  return object;
}

/// A prepare step's result: each rank exchanges rows with the next one.
inline std::string findings_of(const SoakJob& job) {
  json flows = json::array();
  for (int rank = 0; rank + 1 < job.servers; ++rank) flows.push_back({rank, rank + 1, 100});
  return json{{"preparedChecksum", "p"}, {"ranks", job.servers}, {"flows", std::move(flows)}}.dump();
}

}  // namespace atl::ctl
