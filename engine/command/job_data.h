// What `atoll run` and `atoll plan` settle alike before anything else: the manifest, its data set, and that
// the two fit.
#pragma once

#include <filesystem>
#include <string>

#include "command/command_line.h"
#include "dataset/dataset.h"
#include "job/load.h"
#include "partition/prepared_graph.h"

namespace atl {

/// Told what takes time.
using Say = void (*)(const std::string& line);

/// --file with --ranks and --set applied; warnings are said.
LoadedJob load_job_of(const Arguments& arguments, Say say);

/// The job's data set, opened, below --data-root: a stored one, or a generated one, made if need be; graphs are prepared of it where
/// --prepared says. Every byte of what was there already is checked against its checksum. Throws Error where there is none, or where
/// the manifest can't be trained on it (training_fit.h).
Dataset dataset_of(const Arguments& arguments, const LoadedJob& loaded, Say say);

/// The folder of the data set that dataset_of() finds or makes, without a look at it.
std::filesystem::path dataset_place(const Arguments& arguments, const Job& job);

/// What a person calls a data set: its folder, or, where there is no such folder, its name below ./datasets or
/// ATOLL_DATA_ROOT. Throws Error as Dataset::open() where it is neither.
std::filesystem::path stored_dataset(const std::string& called);

/// Whether prepare_graph() has nothing to make.
bool is_prepared(const LoadedJob& loaded, const Dataset& dataset);

/// The job's graph prepared for its ranks, made if need be: then `say` is told how much memory that takes at most.
PreparedGraph prepare_graph(const LoadedJob& loaded, const Dataset& dataset, Say say);

/// Of each rank: --threads, or resources.cpu, or the machine's cores shared out.
int threads_of(const Arguments& arguments, const Job& job);

}  // namespace atl
