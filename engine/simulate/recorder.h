// Records what ranks do while they run. Each rank's communicator has an engine that carries operations out at
// once, between the ranks of this process. The engine notes them with the CPU time of the computing in
// between. One rank computes at a time (or as many as asked for), on a core of its own, so that no rank slows
// another.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "comm/operation.h"
#include "simulate/rank_notes.h"

namespace atl {

/// Calls may come from any thread.
class Recorder {
 public:
  /// `hosts` (ranks): the server of each, as the job's strategy wants them. `at_once`: how many ranks compute
  /// at the same time. `alone`: each rank has one thread, which is bound to one of the processors that the
  /// calling thread may use, and its CPU time is noted. Otherwise a rank has several threads, and wall-clock
  /// time is noted.
  Recorder(const std::vector<std::string>& hosts, int at_once, bool alone = true);
  ~Recorder();
  Recorder(const Recorder&) = delete;

  /// The engine of a rank's communicator. Destroy the engine before the recorder. It is called by threads
  /// that have a turn: the one that trains, and those that make batches.
  std::unique_ptr<ProgressEngine> engine(Rank rank);

  /// A rank's thread computes only while it holds a Turn. While the thread waits for others, another one gets
  /// the turn.
  class Turn {
   public:
    Turn(Recorder& recorder, Rank rank);
    ~Turn();
    Turn(const Turn&) = delete;

   private:
    Recorder& recorder_;
    Rank rank_;
  };

  /// Construct a Guard once a rank has allocated the memory of all its messages. If an exception leaves the
  /// Guard's scope, the other ranks' operations fail before that memory is freed.
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

  /// Notes of the rank's thread that trains.
  RankNotes& notes(Rank rank);
  /// The notes of all threads of the rank, once they have stopped.
  RankRecording take(Rank rank);
  /// The number of turns that threads have been given so far.
  std::int64_t turns() const;

 private:
  class Engine;
  class Stream;
  struct Hall;
  std::unique_ptr<Hall> hall_;
};

}  // namespace atl
