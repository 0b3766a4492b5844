// Tests over all models use every_model(): a kind without a case there would be tested nowhere.
#include "train/every_model.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace atl {
namespace {

template <class Condition>
bool some_case(const std::string& kind, Condition condition) {
  return std::ranges::any_of(every_model(), [&](const SmallCase& each) {
    const ModelSpec model = small_job(each.fields).model;
    return model.kind == kind && condition(model);
  });
}

TEST(EveryModel, HasACaseForEachKindAndEachOfItsChoices) {
  for (const ModelInfo& info : model_infos()) {
    EXPECT_TRUE(some_case(info.kind, [](const ModelSpec&) { return true; }))
        << "model kind " << info.kind << " isn't tested: add a case to tests/unit/train/every_model.h";
    for (const Field& option : info.options) {
      for (const Choice& choice : option.choices) {
        const auto chosen = [&](const ModelSpec& model) {
          return model.options.text(option_name(option)) == choice.name;
        };
        EXPECT_TRUE(some_case(info.kind, chosen))
            << info.kind << " with " << option.path << ": " << choice.name
            << " isn't tested: add a case to tests/unit/train/every_model.h";
      }
    }
  }
}

}  // namespace
}  // namespace atl
