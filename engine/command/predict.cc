// atoll predict: a trained model's predictions on a data set, and its metrics where labels are known.
#include <cstdio>

#include "base/threads.h"
#include "command/commands.h"
#include "command/job_data.h"
#include "train/predict.h"

namespace atl {
namespace {

void print(const char* split, const std::optional<double>& metric) {
  if (metric) std::printf("%-10s %.2f %%\n", split, 100 * *metric);
}

int run(const Arguments& a) {
  PredictOptions options;
  options.model = a.get("--model");
  options.dataset = stored_dataset(a.get("--dataset"));
  options.output = a.get("--output", a.get("--model") + "/predictions");
  options.threads = int(a.integer("--threads", available_cores(), 1, 1024));
  const Evaluation e = predict(options);
  print("training", e.train);
  print("validation", e.validation);
  print("test", e.test);
  std::printf("predictions in %s\n", options.output.c_str());
  return 0;
}

}  // namespace

Command predict_command() {
  return {"predict",
          "predict every vertex's class with a trained model",
          {{"--model", "RUN", "the output folder of the run that trained it", true},
           {"--dataset", "DIR", "its folder, or its name below the data root", true},
           {"--output", "DIR", "where predictions.npy goes (RUN/predictions)"},
           {"--threads", "N", "threads (all available)"}},
          run};
}

}  // namespace atl
