#pragma once

#include <string_view>

namespace vram {

/// The log shows that PyTorch's segments cannot grow where it ran: paths or drivers of Windows, or PyTorch's own word
/// (c10/cuda/CUDACachingAllocator.cpp: "expandable_segments not supported on this platform").
bool segments_are_fixed(std::string_view log);

}  // namespace vram
