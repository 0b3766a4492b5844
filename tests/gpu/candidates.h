// Ways to do the same sums, of which the product has one: each is checked and timed beside the others (candidates.cc).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tensor/kernels.h"

namespace atl {

struct Candidate {
  std::string name;
  std::function<void(Context&)> run;
  bool whole = true;  // not a part of what is to be done: its result can be checked
};
using Candidates = std::vector<Candidate>;

/// out = A x.
Candidates spmm_candidates(const CsrView& csr, ConstMatrixView x, MatrixView out);

/// The same by cuSPARSE. offsets: the host's.
Candidates sparse_candidates(Context& ctx, const std::vector<Index>& offsets, const CsrView& csr,
                             ConstMatrixView x, MatrixView out);

struct AttentionOperands {
  Attention a;
  CsrView transpose;
  const Index* transpose_arc;
  ConstMatrixView z, dst_score, src_score;
  Softmaxes softmaxes;
  ConstMatrixView dot, d_out;
  MatrixView d_z, d_src_score, d_dst_score;
};
/// What is written: softmaxes.
Candidates attention_candidates(const AttentionOperands& of);
/// What is written: d_z, d_src_score, d_dst_score.
Candidates attention_backward_candidates(const AttentionOperands& of);

}  // namespace atl
