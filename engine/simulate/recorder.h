// Records what ranks do, while they do it: an engine for each rank's communicator, which carries operations
// out at once, between the ranks of this process, and notes them with the processor time of what was computed
// between them. One rank computes at a time (or as many as asked for), on a core that it has to itself, so
// that none slows another.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "comm/operation.h"
#include "simulate/rank_notes.h"

namespace atl {

/// All calls from any thread.
class Recorder {
 public:
  /// `hosts` (ranks): the server of each, as the job's strategy wants them. `at_once`: ranks that compute at
  /// the same time. `alone`: each on one thread, which has one of the processors that this thread may use,
  /// and whose processor time is noted; otherwise on several, and time is noted as it passes.
  Recorder(const std::vector<std::string>& hosts, int at_once, bool alone = true);
  ~Recorder();
  Recorder(const Recorder&) = delete;

  /// The engine of a rank's communicator. Destroyed before the recorder; its calls come from threads that
  /// have a turn: the rank's, and those that make batches.
  std::unique_ptr<ProgressEngine> engine(Rank rank);

  /// A rank's thread computes only while it holds this. Its waits for others give the turn on.
  class Turn {
   public:
    Turn(Recorder& recorder, Rank rank);
    ~Turn();
    Turn(const Turn&) = delete;

   private:
    Recorder& recorder_;
    Rank rank_;
  };

  /// Made when a rank has all the memory that messages come to and leave from. Where it is left by an
  /// exception, the other ranks' operations fail before that memory goes.
  class Guard {
   public:
    Guard(Recorder& recorder, Rank rank)
        : recorder_(recorder), rank_(rank), exceptions_(std::uncaught_exceptions()) {}
    ~Guard() {
      if (std::uncaught_exceptions() > exceptions_) recorder_.give_up(rank_);
    }
    Guard(const Guard&) = delete;

   private:
    Recorder& recorder_;
    Rank rank_;
    int exceptions_;
  };
  /// All operations of all ranks fail from here on.
  void give_up(Rank rank);
  /// The rank that gave up first; −1: none.
  Rank first_to_give_up() const;

  /// Of the rank's thread that trains.
  RankNotes& notes(Rank rank);
  /// What has been noted of all threads of the rank, once they have stopped.
  RankRecording take(Rank rank);
  /// Turns that threads of ranks were given so far.
  std::int64_t turns() const;

 private:
  class Engine;
  class Stream;
  struct Hall;
  std::unique_ptr<Hall> hall_;
};

}  // namespace atl
