// Losses, metrics and optimisers.
#include "tensor/cases/cases.h"

namespace atl::test {
namespace {

const std::int32_t* labels(Trial& t, Index n, Index classes) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(n));
  for (std::int32_t& each : all) each = std::int32_t(t.draw() % unsigned(classes));
  return t.copy(all).data();
}
View<const std::uint8_t> targets(Trial& t, Index n, Index classes) {
  std::vector<std::uint8_t> all(std::size_t(n * classes));
  for (std::uint8_t& each : all) each = std::uint8_t(t.draw() % 2);
  return {t.copy(all).data(), n, classes, classes};
}

void cross_entropy_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(300), classes = sizes(90) + 1;
  t.may_differ(kSums);
  t.expect(&cross_entropy, &reference::cross_entropy, t.matrix(n, classes, -4, 4), labels(t, n, classes),
           t.some_rows(n), Real(0.3), t.toss() ? t.matrix(n, classes) : MatrixView{}, t.doubles(1));
}
void binary_cross_entropy_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(300), classes = sizes(90) + 1;
  t.may_differ(kSums);
  t.expect(&binary_cross_entropy, &reference::binary_cross_entropy, t.matrix(n, classes, -4, 4),
           targets(t, n, classes), t.some_rows(n), Real(0.3), t.toss() ? t.matrix(n, classes) : MatrixView{},
           t.doubles(1));
}

/// With equal values, and rows of what is no number.
MatrixView logits(Trial& t, Index n, Index classes) {
  const MatrixView all = t.matrix(n, classes);
  for (Index r = 0; r < n; ++r)
    for (Index c = 0; c < classes; ++c) {
      if (t.draw() % 4 == 0) all.row(r)[c] = Real(0.5);
      if (r % 11 == 3 && t.draw() % 4 == 0) all.row(r)[c] = std::numeric_limits<Real>::quiet_NaN();
    }
  return all;
}
template <class Count>
std::span<Count> counts(Trial& t, Index count) {
  return t.copy(std::vector<Count>(std::size_t(count)));
}
void count_classes_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(300), classes = sizes(90) + 1;
  t.expect(&count_classes, &reference::count_classes, logits(t, n, classes), labels(t, n, classes),
           t.some_rows(n), counts<LabelCounts>(t, 1).data());
}
void count_labels_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(300), classes = sizes(90) + 1;
  t.expect(&count_labels, &reference::count_labels, logits(t, n, classes), targets(t, n, classes),
           t.some_rows(n), counts<LabelCounts>(t, 1).data());
}
void count_by_class_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(300), classes = sizes(90) + 1;
  t.expect(&count_by_class, &reference::count_by_class, logits(t, n, classes), labels(t, n, classes),
           t.some_rows(n), counts<ClassCounts>(t, classes));
}
void count_by_label_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(300), classes = sizes(90) + 1;
  t.expect(&count_by_label, &reference::count_by_label, logits(t, n, classes), targets(t, n, classes),
           t.some_rows(n), counts<ClassCounts>(t, classes));
}
void count_confusions_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(300), classes = sizes(40) + 1;
  t.expect(&count_confusions, &reference::count_confusions, logits(t, n, classes), labels(t, n, classes),
           t.some_rows(n), counts<std::int64_t>(t, classes * classes));
}

StepState* state(Trial& t, double not_finite = 0) {
  StepState s;
  s.learning_rate = 0.01, s.update = 3, s.not_finite = not_finite;
  s.squares[0] = 4, s.squares[1] = 5;
  return t.copy(std::vector<StepState>{s}).data();
}
double sometimes(Trial& t) {
  return t.draw() % 4 == 0 ? 1 : 0;
}
void begin_step_case(Trial& t, RandomSizes&) {
  t.expect(&begin_step, &reference::begin_step, 0.5, std::int64_t(7), state(t));
}
void adam_case(Trial& t, RandomSizes& sizes) {
  const Index count = sizes(3000);
  const AdamRule rule{0.9, 0.999, 1e-8, 0.1, t.toss()};
  t.may_differ(kFunctions);
  t.expect(&adam, &reference::adam, rule, state(t, sometimes(t)), count, t.reals(count), t.reals(count),
           t.reals(count, 0, 1), t.reals(count));
}
void sgd_case(Trial& t, RandomSizes& sizes) {
  const Index count = sizes(3000);
  t.may_differ(kFunctions);
  t.expect(&sgd, &reference::sgd, SgdRule{0.9, 0.1}, state(t, sometimes(t)), count, t.reals(count),
           t.reals(count), t.reals(count));
}
void squared_norm_case(Trial& t, RandomSizes& sizes) {
  const Index count = sizes(9000);
  t.may_differ(1e-9);
  t.expect(&squared_norm, &reference::squared_norm, count, t.reals(count), t.doubles(1));
}
void clip_case(Trial& t, RandomSizes& sizes) {
  t.may_differ(kFunctions);
  t.expect(&clip, &reference::clip, t.toss() ? 2.5 : 3.5, state(t, sometimes(t)),
           t.matrix(sizes(90), sizes(70)));
}
void count_non_finite_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(90), m = sizes(70);
  const MatrixView x = t.values(n, m);
  for (Index r = 0; r < n && m > 0; r += 3) {
    const float value = r % 2 == 0 ? float(INFINITY) : float(NAN);
    if (x.halves != nullptr)
      x.halves[r * x.stride + r % m] = to_bfloat16(value);
    else
      x.row(r)[r % m] = Real(value);
  }
  double* const unless = t.toss() ? t.doubles(1) : nullptr;
  if (unless != nullptr && t.toss()) *unless = NAN;
  t.expect(&count_non_finite, &reference::count_non_finite, x, t.doubles(1), unless);
}

}  // namespace

std::vector<NamedCase> step_cases() {
  return {{"cross_entropy", cross_entropy_case},
          {"binary_cross_entropy", binary_cross_entropy_case},
          {"count_classes", count_classes_case},
          {"count_labels", count_labels_case},
          {"count_by_class", count_by_class_case},
          {"count_by_label", count_by_label_case},
          {"count_confusions", count_confusions_case},
          {"begin_step", begin_step_case},
          {"adam", adam_case},
          {"sgd", sgd_case},
          {"squared_norm", squared_norm_case, true},
          {"clip", clip_case},
          {"count_non_finite", count_non_finite_case, true}};
}

}  // namespace atl::test
