// Writes pickles in the form of Planetoid's files (protocol 2), so that tests can make small and odd ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace atl::tiny_pickle {

inline std::string number(std::int32_t value) {
  return "J" + std::string(reinterpret_cast<const char*>(&value), 4);
}
inline std::string text(const std::string& bytes) {
  const std::int32_t size = std::int32_t(bytes.size());
  return "T" + std::string(reinterpret_cast<const char*>(&size), 4) + bytes;
}
inline std::string whole(const std::string& value) {
  return "\x80\x02" + value + ".";
}

template <class T>
std::string array(const std::string& code, const std::vector<std::int32_t>& shape,
                  const std::vector<T>& values, const std::string& order = "<") {
  std::string lengths = "(";
  for (std::int32_t length : shape) lengths += number(length);
  const std::string dtype = "cnumpy\ndtype\n(" + text(code) + number(0) + number(1) + "tR(" + number(3) +
                            text(order) + "NNN" + number(-1) + number(-1) + number(0) + "tb";
  const std::string data(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return "cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(" + number(0) + "t" + text("b") + "tR(" +
         number(1) + lengths + "t" + dtype + "\x89" + text(data) + "tb";
}

/// A CSR matrix of float32.
inline std::string csr(std::int32_t rows, std::int32_t cols, const std::vector<std::int32_t>& offsets,
                       const std::vector<std::int32_t>& columns) {
  const std::vector<float> ones(columns.size(), 1.0f);
  const std::int32_t nonzeros = std::int32_t(columns.size());
  return "cscipy.sparse.csr\ncsr_matrix\n)\x81}(" + text("_shape") + number(rows) + number(cols) + "\x86" +
         text("indptr") + array("i4", {rows + 1}, offsets) + text("indices") +
         array("i4", {nonzeros}, columns) + text("data") + array("f4", {nonzeros}, ones) + "ub";
}

/// A defaultdict of lists.
inline std::string graph(const std::vector<std::vector<std::int32_t>>& neighbours) {
  std::string dict = "ccollections\ndefaultdict\n(c__builtin__\nlist\ntR(";
  for (std::size_t v = 0; v < neighbours.size(); ++v) {
    dict += number(std::int32_t(v)) + "](";
    for (std::int32_t u : neighbours[v]) dict += number(u);
    dict += "e";
  }
  return dict + "u";
}

}  // namespace atl::tiny_pickle
