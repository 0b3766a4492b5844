// Hands the rows of arrays to a DatasetWriter piece by piece, so that memory stays bounded, and reads splits
// from arrays.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "dataset/format/npy.h"
#include "dataset/format/npz.h"
#include "dataset/splits.h"
#include "dataset/writer.h"

namespace atl {

/// Throws Error unless the shape is (E, 2), with a remedy for each other shape that tools are known to write.
void expect_arc_rows(const NpyArray& arcs);

/// Adds arcs (E, 2) of (source, destination), and their weights (E) or null. `first_id` is the id of the
/// first vertex.
void add_arc_rows(const NpyArray& arcs, const NpyArray* weights, VertexId first_id, DatasetWriter& writer);

/// A dense feature matrix (vertices, features).
void add_feature_rows(const NpyArray& features, DatasetWriter& writer);

/// A sparse feature matrix.
void add_feature_rows(const NpzCsr& features, const std::string& source, DatasetWriter& writer);

/// Rows begin … begin + count − 1, with values as weights. Gives the memory of those rows back if the file is
/// mapped.
Csr csr_rows(const NpzCsr& matrix, Index begin, Index count);

/// Throws Error if the array is transposed, with vertices as columns.
void expect_a_row_each(const NpyArray& array, Index vertices);

/// Throws Error unless the array holds integers.
void expect_integers(const NpyArray& array, const char* what);

// Splits stored as three arrays in one .npz: masks (our neutral layout's, Geom-GCN's, PyTorch Geometric's),
// or lists of ids (OGB's).

/// Reads a split (vertices, columns) from arrays train, val and test (or train_mask, valid, …). They are
/// masks of shape [vertices] or [vertices, columns], of bool or any number that is 0 or 1, or lists of ids,
/// where the first vertex has `first_id`.
SplitTable read_mask_split(const std::filesystem::path& path, Index vertices, VertexId first_id);

/// The columns of several one-column files side by side, in the order given.
SplitTable read_mask_splits(std::span<const std::filesystem::path> paths, Index vertices);

}  // namespace atl
