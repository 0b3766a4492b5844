// What mpirun's own messages mean for somebody who has started a job, and not mpirun.
#pragma once

#include <string>

namespace atl {

/// One line that says what to do, of a box of mpirun's; "": it is none that we know.
std::string trouble_in(const std::string& box);

/// Whether a line outside of boxes is Open MPI's or the remote shell's, and none of a rank.
bool is_from_mpirun(const std::string& line);

}  // namespace atl
