// How a strategy is asked for figures that it alone has: stale rows, chunks' times, explanations. The asker
// names their type, and a strategy with such figures makes them. No interface knows which strategy has which.
//
//   void MyStrategy::report(FigureRequest& request) {
//     request.offer<MyFigures>([&] { return my_figures(); });
//   }
//   if (const auto mine = figures_of<MyFigures>(schedule)) ...
#pragma once

#include <optional>
#include <typeinfo>

namespace atl {

/// Lives for one question.
class FigureRequest {
 public:
  /// Offers a type of figures; call it once for each type. `make` is called where that type is asked for.
  template <class Figures, class Make>
  void offer(Make&& make) {
    if (type_ == typeid(Figures)) *static_cast<std::optional<Figures>*>(answer_) = make();
  }

 private:
  template <class Figures, class Source>
  friend std::optional<Figures> figures_of(Source& source);
  FigureRequest(const std::type_info& type, void* answer) : type_(type), answer_(answer) {}

  const std::type_info& type_;
  void* answer_;  // std::optional<Figures>
};

/// The figures of `source`, a Schedule or an Exchange; none where it has no such figures. Collective where
/// making them is.
template <class Figures, class Source>
std::optional<Figures> figures_of(Source& source) {
  std::optional<Figures> answer;
  FigureRequest request(typeid(Figures), &answer);
  source.report(request);
  return answer;
}

}  // namespace atl
