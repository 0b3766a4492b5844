// How ranks come to links between their devices (tensor/device_links.h): they tell each other, over the host's transport, what each can
// offer; rank 0 makes a key; all join, and send a few bytes round, which shows that something arrives. They have links together, or none has.
#pragma once

#include <memory>
#include <string>

#include "comm/linked_transport.h"
#include "tensor/device_links.h"

namespace atl {

struct LinkSetup {
  std::unique_ptr<DeviceLinks> links;  // null: rows go by way of the host …
  std::string why_not;                 // … because of this
};

/// Collective, by the thread that calls `host`, before anything else goes over it. Throws Error naming the ranks from which nothing has
/// come for the time-out.
LinkSetup set_up_links(Transport& host, const LinkMaker& maker, const LinkOptions& options);

/// Gives up what is under way. False where the library doesn't come back: then memory of messages may still be written.
bool give_up(std::unique_ptr<DeviceLinks> links);

}  // namespace atl
