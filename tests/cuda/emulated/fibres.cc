#include "fibres.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

// switch_stacks(save, to): pushes what a called function must keep, leaves the stack pointer in *save and
// goes on at `to`.
extern "C" void emulated_switch_stacks(void** save, void* to);
asm(R"(
.text
.globl emulated_switch_stacks
.type emulated_switch_stacks, @function
emulated_switch_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size emulated_switch_stacks, .-emulated_switch_stacks
.section .note.GNU-stack,"",@progbits
.text
)");

namespace emulated {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kStack = 256 << 10;
#else
constexpr std::size_t kStack = 64 << 10;
#endif
constexpr std::size_t kKept = 6;  // registers

thread_local Fibres* running = nullptr;

void announce_start([[maybe_unused]] void** fake, [[maybe_unused]] const void* bottom,
                    [[maybe_unused]] std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(fake, bottom, bytes);
#endif
}
void announce_end([[maybe_unused]] void* fake, [[maybe_unused]] const void** bottom,
                  [[maybe_unused]] std::size_t* bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake, bottom, bytes);
#endif
}

}  // namespace

Fibres::Fibres(std::size_t most) : most_(most), fibres_(new Fibre[most]) {
  void* const memory = mmap(nullptr, most * kStack, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  stacks_ = static_cast<std::byte*>(memory);
}

Fibres::~Fibres() {
  munmap(stacks_, most_ * kStack);
  delete[] fibres_;
}

void Fibres::start(std::size_t which, const std::function<void()>& body) {
  body_ = &body;
  Fibre& fibre = fibres_[which];
  auto* top = reinterpret_cast<void**>(stacks_ + (which + 1) * kStack);
  *--top = nullptr;  // where main() would return to, which it never does
  *--top = reinterpret_cast<void*>(&Fibres::main);
  for (std::size_t i = 0; i < kKept; ++i) *--top = nullptr;
  fibre = {top, nullptr, false};
}

bool Fibres::resume(std::size_t which) {
  running = this;
  current_ = &fibres_[which];
  void* fake = nullptr;
  announce_start(&fake, stacks_ + which * kStack, kStack);
  emulated_switch_stacks(&outside_, current_->stack_pointer);
  announce_end(fake, nullptr, nullptr);
  return current_->ended;
}

void Fibres::pause() {
  Fibre& fibre = *current_;
  announce_start(fibre.ended ? nullptr : &fibre.fake_stack, outside_stack_, outside_bytes_);
  emulated_switch_stacks(&fibre.stack_pointer, outside_);
  announce_end(fibre.fake_stack, &outside_stack_, &outside_bytes_);
}

void Fibres::main() {
  Fibres& all = *running;
  announce_end(nullptr, &all.outside_stack_, &all.outside_bytes_);
  (*all.body_)();
  running->current_->ended = true;
  running->pause();
  std::abort();
}

}  // namespace emulated
