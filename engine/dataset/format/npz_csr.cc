// SciPy's sparse matrices in .npz archives.

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "dataset/format/npz.h"

namespace atl {
namespace {

constexpr Index kCsrPiece = 1 << 16;

void check_offsets(const NpzCsr& matrix, const std::string& name) {
  std::vector<std::int64_t> piece(kCsrPiece);
  std::int64_t last = 0;
  for (Index begin = 0; begin <= matrix.rows; begin += kCsrPiece) {
    const Index count = std::min(kCsrPiece, matrix.rows + 1 - begin);
    matrix.offsets.read_rows(begin, count, piece.data());
    for (Index i = 0; i < count; ++i) {
      if (piece[std::size_t(i)] < last || piece[std::size_t(i)] > matrix.columns.rows()) {
        fail(
            "{}: indptr[{}] is {}; it must be at least {} and at most {}: write the matrix again with "
            "scipy.sparse.save_npz",
            name, begin + i, piece[std::size_t(i)], last, matrix.columns.rows());
      }
      last = piece[std::size_t(i)];
    }
    matrix.offsets.forget_rows(begin, begin + count);
  }
  if (last != matrix.columns.rows()) {
    fail("{}: indptr ends at {}, but there are {} indices; write the matrix again", name, last,
         matrix.columns.rows());
  }
}

void check_columns(const NpzCsr& matrix, const std::string& name) {
  std::vector<std::int64_t> piece(kCsrPiece);
  for (Index begin = 0; begin < matrix.columns.rows(); begin += kCsrPiece) {
    const Index count = std::min(kCsrPiece, matrix.columns.rows() - begin);
    matrix.columns.read_rows(begin, count, piece.data());
    for (Index i = 0; i < count; ++i) {
      if (piece[std::size_t(i)] < 0 || piece[std::size_t(i)] >= matrix.cols) {
        fail("{}: indices[{}] is {}; allowed are 0 … {}", name, begin + i, piece[std::size_t(i)],
             matrix.cols - 1);
      }
    }
    matrix.columns.forget_rows(begin, begin + count);
  }
}

}  // namespace

void check_csr(const NpzCsr& matrix, const std::string& name) {
  expect_shape(matrix.offsets, {matrix.rows + 1});
  expect_shape(matrix.columns, {-1});
  expect_shape(matrix.values, {matrix.columns.rows()});
  check_offsets(matrix, name);
  check_columns(matrix, name);
}

NpzCsr read_csr_npz(const std::filesystem::path& path, const std::filesystem::path& scratch) {
  const NpzFile archive = NpzFile::open(path, scratch);
  if (archive.contains("format")) {
    const NpyArray stored = archive.read("format");
    const std::string format = is_text(stored.dtype()) && stored.size() == 1 ? stored.strings()[0] : "";
    if (format != "csr") {
      fail("{}: is a sparse matrix in format '{}'; write matrix.tocsr() with scipy.sparse.save_npz",
           path.string(), format);
    }
  }
  if (!archive.contains("indptr")) {
    fail(
        "{}: holds no sparse matrix but {}; save a sparse one with scipy.sparse.save_npz(path, x.tocsr()), a dense one "
        "with numpy.save, as .npy",
        path.string(), joined(archive.names(), ", "));
  }
  const NpyArray shape = archive.read("shape");
  expect_shape(shape, {2});
  const std::vector<std::int64_t> lengths = shape.read<std::int64_t>();
  if (lengths[0] < 0 || lengths[1] < 0) fail("{}: its shape is negative", path.string());
  NpzCsr matrix{lengths[0], lengths[1], archive.read("indptr"), archive.read("indices"),
                archive.read("data")};
  check_csr(matrix, path.string());
  return matrix;
}

}  // namespace atl
