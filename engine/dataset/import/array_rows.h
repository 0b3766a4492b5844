// Hands the rows of arrays to a DatasetWriter piece by piece, so that memory stays bounded.
#pragma once

#include "dataset/format/npy.h"
#include "dataset/format/npz.h"
#include "dataset/writer.h"

namespace atl {

/// Throws Error, with the remedy of each shape that tools are known to write, unless the shape is (E, 2).
void expect_arc_rows(const NpyArray& arcs);

/// Arcs (E, 2) of (source, destination), and their weights (E) or null. `first_id` is what the first vertex
/// is called.
void add_arc_rows(const NpyArray& arcs, const NpyArray* weights, VertexId first_id, DatasetWriter& writer);

/// A dense feature matrix (vertices, features).
void add_feature_rows(const NpyArray& features, DatasetWriter& writer);

/// A sparse feature matrix.
void add_feature_rows(const NpzCsr& features, const std::string& source, DatasetWriter& writer);

/// Rows begin … begin + count − 1, values as weights; of a mapped file they then need not stay in memory.
Csr csr_rows(const NpzCsr& matrix, Index begin, Index count);

/// Throws Error if the array is transposed: a column a vertex instead of a row.
void expect_a_row_each(const NpyArray& array, Index vertices);

/// Throws Error unless the array holds integers.
void expect_integers(const NpyArray& array, const char* what);

}  // namespace atl
