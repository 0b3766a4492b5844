// A name for the user that a pod runs as: the cluster chooses its number, and neither ssh nor sshd works for a number that
// nobody knows.
#pragma once

namespace atl {

/// Enters "atoll" with our number where the C library looks users up beside /etc/passwd (libnss-extrausers), unless we have
/// a name already. Throws Error where that can't be written.
void make_user_known();

}  // namespace atl
