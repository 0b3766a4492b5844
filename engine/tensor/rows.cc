#include "tensor/rows.h"

namespace atl {

BitMatrix transpose(const BitView& bits) {
  BitMatrix out(bits.cols, bits.rows);
  for (Index r = 0; r < bits.rows; ++r) {
    const std::uint32_t* words = bits.words + r * bits.row_words();
    for (Index w = 0; w < bits.row_words(); ++w) {
      for (std::uint32_t left = words[w]; left != 0; left &= left - 1)
        out.set(32 * w + __builtin_ctz(left), r);
    }
  }
  return out;
}

}  // namespace atl
