#include "train/results.h"

#include <algorithm>

#include "base/error.h"
#include "job/load.h"
#include "sampler/owners.h"
#include "telemetry/rank_meter.h"
#include "telemetry/report/report.h"
#include "telemetry/run_folder.h"
#include "tensor/copies.h"
#include "train/checkpoint/run_state.h"
#include "train/predictions.h"

namespace atl {
namespace {

constexpr Index kMessageValues = Index(1) << 20;  // the most that rank 0 receives at a time
// Messages after which all ranks hear from each other again, since some only wait for their turn.
constexpr int kMessagesOnEnd = 64;

/// The vertices whose logits each rank has.
class AnsweredRows {
 public:
  AnsweredRows(const Job& job, const PreparedGraph& prepared, const PartRanks& ranks)
      : job_(job), prepared_(prepared), ranks_(ranks) {
    if (strategy_of(job).holds == Holds::kBatches)
      owners_.emplace(prepared.part_offsets(), job.placement.ranks);  // each has consecutive parts
  }

  std::span<const VertexId> operator()(Rank rank) const {
    if (owners_) return rows(owners_->first_row(rank), owners_->rows(rank));
    const DataShare share = data_share_of(job_, rank, ranks_);
    const auto part = std::size_t(share.ranks.part_of(rank));
    const Index begin = prepared_.part_offsets()[part], end = prepared_.part_offsets()[part + 1];
    return rows(begin, share.answers ? end - begin : 0);
  }

 private:
  std::span<const VertexId> rows(Index first, Index count) const {
    return prepared_.ids().subspan(std::size_t(first), std::size_t(count));
  }

  const Job& job_;
  const PreparedGraph& prepared_;
  const PartRanks& ranks_;
  std::optional<Owners> owners_;
};

/// Writes one .npy with a row per vertex. All ranks take part; rank 0 writes.
void write_rows(Communicator& comm, const AnsweredRows& answered, const std::filesystem::path& path,
                const VertexOrder& order, ConstMatrixView mine, VertexRowsFile::Content content) {
  std::unique_ptr<VertexRowsFile> file;
  if (comm.rank() == 0) file = std::make_unique<VertexRowsFile>(path, order, mine.cols, content);
  collect_rows(comm, answered, mine,
               [&](std::span<const VertexId> ids, ConstMatrixView rows) { file->put(ids, rows); });
  if (file) file->commit();
}

}  // namespace

void collect_rows(Communicator& comm, FunctionRef<std::span<const VertexId>(Rank rank)> ids_of,
                  ConstMatrixView mine,
                  FunctionRef<void(std::span<const VertexId> ids, ConstMatrixView rows)> put) {
  if (comm.rank() == 0) put(ids_of(0), mine);
  const Index most = std::max<Index>(1, kMessageValues / std::max<Index>(1, mine.cols));  // rows per message
  Matrix theirs;
  int messages = 0;
  for (int r = 1; r < comm.size(); ++r) {
    const auto ids = ids_of(r);
    for (Index begin = 0; begin < Index(ids.size()); begin += most) {
      const Index count = std::min(most, Index(ids.size()) - begin);
      if (comm.rank() == r) {
        const RowsTo send{0, mine.slice_rows(begin, count)};
        comm.exchange(Lane::kBulk, Traffic::kCheckpoint, std::span(&send, 1), {}).wait();
      } else if (comm.rank() == 0) {
        theirs.resize(count, mine.cols);
        const RowsFrom receive{r, theirs};
        comm.exchange(Lane::kBulk, Traffic::kCheckpoint, {}, std::span(&receive, 1)).wait();
        put(ids.subspan(std::size_t(begin), std::size_t(count)), theirs);
      }
      if (++messages % kMessagesOnEnd == 0) comm.barrier();
    }
  }
}

ConstMatrixView write_predictions(Context& ctx, Communicator& comm, const Job& job, const RankData& data,
                                  const PreparedGraph& prepared, const Dataset& dataset, Schedule& inference,
                                  const std::filesystem::path& output, bool probabilities) {
  const ConstMatrixView logits = inference.infer();
  HostRows logits_here, embeddings_here;
  const ConstMatrixView rows = logits_here.of(ctx, logits);
  const VertexOrder order =
      comm.rank() == 0 ? vertex_order(dataset.meta().vertices, dataset.original_ids()) : VertexOrder{};
  const AnsweredRows answered(job, prepared, data.ranks());
  // pair_scores.npy stays: it is of the same model, and this call may be for embeddings alone
  if (comm.rank() == 0) remove_predictions(output, data.links() != nullptr ? "pair_scores.npy" : "");
  using Content = VertexRowsFile::Content;
  if (data.links() != nullptr) {
    write_rows(comm, answered, output / "embeddings.npy", order, rows, Content::kValues);
    if (comm.rank() == 0) write_vertex_ids(output / "vertex_ids.npy", order);
    return logits;
  }
  write_rows(comm, answered, output / "predictions.npy", order, rows,
             data.multi_label() ? Content::kClasses : Content::kClass);
  if (probabilities)
    write_rows(comm, answered, output / "probabilities.npy", order, rows,
               data.multi_label() ? Content::kChances : Content::kShares);
  const ConstMatrixView embeddings = embeddings_here.of(ctx, inference.embeddings());
  if (embeddings.cols > 0)
    write_rows(comm, answered, output / "embeddings.npy", order, embeddings, Content::kValues);
  if (comm.rank() == 0) write_vertex_ids(output / "vertex_ids.npy", order);
  return logits;
}

void write_results(Context& ctx, Communicator& comm, const SessionOptions& o, const RankData& data,
                   const PreparedGraph& prepared, const Dataset& dataset, Trainer& trainer,
                   const std::vector<Phase>& phases, RunRecord& record) {
  const ConstMatrixView logits =
      write_predictions(ctx, comm, o.job, data, prepared, dataset, trainer.inference(), o.output, false);
  if (data.links() != nullptr)
    trainer.evaluate(), record.links = trainer.link_metrics();
  else
    record.confusion = confusion_of(ctx, comm, data, logits);
  WholeTensors tensors(comm, trainer.parameters());
  tensors.add(HostArray(trainer.parameters().device(), trainer.parameters().values()), "", false);
  if (comm.rank() == 0) {
    Metadata metadata{{"atoll.job", o.job_yaml}, {"atoll.epoch", std::to_string(record.best_epoch)}};
    const std::vector<std::string>& class_names = dataset.meta().class_names;
    add_class_names(class_names, metadata);
    if (data.links() == nullptr) write_predicted_labels(o.output, class_names);
    for (const auto& [key, value] : identity_of(o.job, dataset.meta())) metadata["atoll." + key] = value;
    put(trained_on(dataset.meta(), o.job), metadata);
    write_safetensors(o.output / "model.safetensors", tensors.tensors(), metadata);
  }
  gather_rank_figures(comm, phases, record);
  if (const auto times = trainer.figures<StageTimes>()) gather_pipeline(comm, *times, record);
  if (const auto figures = trainer.figures<ExplainedFigures>()) gather_explained(comm, *figures, record);
}

void write_report_of(const SessionOptions& o, const RunRecord& record) {
  write_report(record, o.output / "report.html");
}

namespace {

namespace fs = std::filesystem;

std::optional<RunRecord> record_in(const fs::path& output) {
  try {
    return read_run(output);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Link prediction leaves embeddings, and no classes.
bool has_results(const fs::path& output, const Job& job) {
  const char* const predicted = job.task == Task::kLinkPrediction ? "embeddings.npy" : "predictions.npy";
  for (const char* name : {"result.json", "model.safetensors", predicted, "report.html"})
    if (!fs::exists(output / name)) return false;
  return true;
}

Index trained(const RunRecord& run) {
  return run.epochs.empty() ? run.resumed_from : run.epochs.back().epoch;
}

/// As Best::patience_over().
bool patience_over(const RunRecord& run, const Job& job) {
  const int patience = job.training.early_stopping.patience;
  return patience > 0 && run.best_epoch > 0 && trained(run) - run.best_epoch >= patience;
}

bool same_run(const RunRecord& run, const Job& job) {
  try {
    return changes_that_forbid_resuming(parse_job(run.setting.job_yaml, "run.json").job, job).empty();
  } catch (const Error&) {
    return false;  // the manifest is of a version with other fields
  }
}

}  // namespace

std::optional<RunRecord> finished_run(const fs::path& output, const Job& job,
                                      const std::string& dataset_checksum) {
  if (!has_results(output, job)) return std::nullopt;
  std::optional<RunRecord> run = record_in(output);
  if (!run || run->outcome.empty()) return std::nullopt;
  // An interrupted run counts as completed where the job asks for no more epochs.
  if (run->outcome == "interrupted") run->outcome = "completed";
  const bool more = trained(*run) < job.training.epochs && !patience_over(*run, job);
  return more || run->setting.dataset_checksum != dataset_checksum || !same_run(*run, job) ? std::nullopt
                                                                                           : run;
}

std::string finished_words(const RunRecord& run, const Job& job) {
  const Index done = trained(run), asked = job.training.epochs;
  const std::string why =
      done < asked   ? fmt::format("stopped early after {} epochs of {}", done, asked)
      : done > asked ? fmt::format("finished with {} epochs, and training.epochs asks for {}", done, asked)
                     : fmt::format("finished: all {} epochs are trained", done);
  return fmt::format("{} has {}; nothing is trained or changed (to train on, {}; to start over, --fresh)",
                     run.setting.output, why,
                     done < asked ? "raise training.earlyStopping.patience" : "raise training.epochs");
}

}  // namespace atl
