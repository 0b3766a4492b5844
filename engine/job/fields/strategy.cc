// The rows of `strategy`; the kinds and their blocks come from strategies.cc.
#include <algorithm>

#include "job/fields.h"
#include "job/strategies.h"

namespace atl {
namespace {

std::vector<Choice> strategy_kinds() {
  std::vector<Choice> choices;
  for (const auto& info : strategy_infos()) choices.push_back({info.kind, info.description});
  return choices;
}

/// The slot of strategy.kind. A choice's position is the position of its row in the table.
Slot row_of(Job& job) {
  const StrategyInfo*& row = job.strategy.row;
  return EnumSlot{
      [&row](int i) { row = &strategy_infos()[std::size_t(i)]; },
      [&row] {
        const auto& rows = strategy_infos();
        return int(std::ranges::find(rows, row, [](const auto& each) { return &each; }) - rows.begin());
      }};
}

}  // namespace

std::vector<Field> strategy_fields() {
  std::vector<Field> f;
  f.push_back({.path = "strategy", .description = "how ranks share the work"});
  f.push_back({.path = "strategy.kind",
               .type = FieldType::kChoice,
               .description = "how ranks exchange data",
               .slot = row_of,
               .choices = strategy_kinds()});
  f.push_back({.path = "strategy.wire",
               .type = FieldType::kChoice,
               .description = "number format of rows and gradients sent between ranks in training",
               .slot = at([](Job & j) -> auto& { return j.strategy.wire; }),
               .choices = {{"float32", ""},
                           {"bfloat16", "half the bytes, rounded to nearest; arithmetic stays in float32"}}});
  for (const auto& info : strategy_infos()) {
    if (has_block(info))
      f.push_back({.path = "strategy." + info.kind, .description = info.description, .of_kind = info.kind});
    for (const auto& option : info.options) f.push_back(option);
  }
  return f;
}

}  // namespace atl
