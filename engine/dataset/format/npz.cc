#include "dataset/format/npz.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "dataset/format/file_kind.h"
#include "dataset/format/inflate.h"
#include "dataset/format/mapped_file.h"
#include "dataset/scratch_file.h"

namespace atl {
namespace {

constexpr Index kHeldBytes = 1 << 20;          // unpacked arrays up to this size stay in memory
constexpr std::size_t kForgetBytes = 4 << 20;  // of a mapped file, read and needed no more

}  // namespace

NpzFile NpzFile::open(const std::filesystem::path& path, std::filesystem::path scratch) {
  auto file = std::make_shared<const MappedFile>(path);
  NpzFile archive = over(file->bytes(), path.string(), file);
  archive.file_ = std::move(file);
  archive.scratch_ = std::move(scratch);
  return archive;
}

NpzFile NpzFile::over(std::string_view bytes, std::string name, std::shared_ptr<const void> owner) {
  const std::string_view other = bytes.starts_with("PK") ? "" : known_kind(bytes.substr(0, kKindBytes));
  if (!other.empty()) fail("{}: {}; give an .npz archive", name, other);
  NpzFile archive;
  archive.name_ = std::move(name);
  archive.bytes_ = bytes;
  archive.owner_ = std::move(owner);
  for (const auto& [file, entry] : read_zip_directory(bytes, archive.name_)) {
    archive.entries_[file.ends_with(".npy") ? file.substr(0, file.size() - 4) : file] = entry;
  }
  return archive;
}

std::vector<std::string> NpzFile::names() const {
  std::vector<std::string> found;
  for (const auto& [array, entry] : entries_) found.push_back(array);
  return found;
}

NpyArray NpzFile::read(const std::string& array) const {
  const auto found = entries_.find(array);
  if (found == entries_.end()) {
    fail("{}: holds no array '{}'; it holds: {}", name_, array, fmt::format("{}", fmt::join(names(), ", ")));
  }
  const ZipEntry& entry = found->second;
  const Packed packed{entry, packed_bytes(bytes_, entry, name_ + ":" + array), name_ + ":" + array};
  if (entry.method == 0) return stored(packed);
  if (entry.method != 8) {
    fail("{}: is compressed by method {}; write it with numpy.savez or savez_compressed", packed.label,
         entry.method);
  }
  // deflate packs at most 1032 : 1, so a larger claim is damage and not a reason to allocate
  if (entry.bytes / 1033 > entry.packed_bytes) fail_damaged_zip(packed.label, "its size is out of range");
  return scratch_.empty() || entry.bytes <= kHeldBytes ? unpacked_in_memory(packed)
                                                       : unpacked_on_disk(packed);
}

NpyArray NpzFile::stored(const Packed& packed) const {
  std::uint32_t crc = 0;
  for (std::size_t begin = 0; begin < packed.bytes.size(); begin += kForgetBytes) {
    crc = crc32_of(packed.bytes.substr(begin, kForgetBytes), crc);
    if (file_) file_->forget(packed.bytes.substr(begin, kForgetBytes));
  }
  check_crc(packed, crc);
  return file_ ? NpyArray::in_file(file_, packed.bytes, packed.label)
               : NpyArray::over(packed.bytes, packed.label, owner_);
}

NpyArray NpzFile::unpacked_in_memory(const Packed& packed) const {
  auto all = std::make_shared<std::string>();
  all->reserve(std::size_t(packed.entry.bytes));
  check_crc(packed, inflate_pieces(packed.bytes, packed.entry.bytes, packed.label,
                                   [&](std::string_view piece, std::size_t) { all->append(piece); }));
  return NpyArray::over(*all, packed.label, all);
}

/// The packed bytes are a mapped file's too: what has been read is forgotten as it goes.
NpyArray NpzFile::unpacked_on_disk(const Packed& packed) const {
  ScratchFile file(scratch_);
  std::size_t forgotten = 0;
  const auto take = [&](std::string_view piece, std::size_t read) {
    file.append(piece.data(), Index(piece.size()));
    if (read - forgotten < kForgetBytes) return;
    file_->forget(packed.bytes.substr(forgotten, read - forgotten));
    forgotten = read;
  };
  check_crc(packed, inflate_pieces(packed.bytes, packed.entry.bytes, packed.label, take));
  file.flush();
  auto mapped = std::make_shared<const MappedFile>(file.map());
  const std::string_view bytes = mapped->bytes();
  return NpyArray::in_file(std::move(mapped), bytes, packed.label);
}

void NpzFile::check_crc(const Packed& packed, std::uint32_t crc) const {
  if (crc != packed.entry.crc) fail_damaged_zip(packed.label, "its CRC-32 differs");
}

}  // namespace atl
