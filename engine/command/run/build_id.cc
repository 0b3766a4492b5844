// The linker's build id of this program, found among the notes with which it was loaded.
#include "command/run/rank_start.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstring>
#include <span>

#include "base/error.h"

namespace atl {
namespace {

/// The build id among the notes of an ELF note segment, or "".
std::string id_among(std::span<const unsigned char> notes) {
  const auto padded = [](std::size_t size) { return (size + 3) / 4 * 4; };
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, notes.data(), sizeof head);
    const std::size_t name = sizeof head, id = name + padded(head.n_namesz), end = id + padded(head.n_descsz);
    if (end > notes.size()) break;
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && std::memcmp(&notes[name], "GNU", 4) == 0) {
      std::string text;
      for (const unsigned char byte : notes.subspan(id, head.n_descsz)) text += fmt::format("{:02x}", byte);
      return text;
    }
    notes = notes.subspan(end);
  }
  return {};
}

/// Looks for the id in a loaded object. It is called for the program, then for each library; the program is
/// enough.
int look(dl_phdr_info* object, std::size_t, void* found) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const unsigned char*>(object->dlpi_addr + segment.p_vaddr);
    auto id = id_among({notes, std::size_t(segment.p_memsz)});
    if (!id.empty()) *static_cast<std::string*>(found) = std::move(id);
  }
  return 1;
}

}  // namespace

std::string build_id() {
  std::string id;
  dl_iterate_phdr(look, &id);
  if (id.empty()) fail("this program has no build id; link it with -Wl,--build-id");
  return id;
}

}  // namespace atl
