#pragma once

#include "engine/serving/replica.h"

namespace vram {

/// What one GPU of a replica does in a second, for models stored as the plan says.
struct Roofline {
  double weight_bytes = 0;    // of the memory's bandwidth, reading weights of the plan's format
  double flops = 0;           // in products of many tokens
  double flops16 = 0;         // ... in 16 bit: attention's scores, matrices that a checkpoint leaves unquantised
  double expert_flops = 0;    // in those of experts, where they are another share of the peak; else 0
  double link_bytes = 0;      // between the GPUs of a tensor-parallel group
  double reduce_seconds = 0;  // one all-reduce of nothing
};
Roofline roofline(const Plan& plan, const Replica& replica);

/// Share of a memory's bandwidth that reading elements of so many bits reaches.
double bandwidth_share(const Plan& plan, double bits);

/// Of the time that weights take so: llama.cpp reads those of more rows than its kernels of vectors take (8, mmvq.cuh)
/// as fast as the memory goes.
double rows_share(const Plan& plan, double rows);

/// What scheduling and sampling a token of each request add to a step, where that is no small thing.
double request_seconds(const Plan& plan);

/// What a stage of a pipeline adds to every pass: its host's share of scheduling, receiving and sending.
double stage_seconds(const Plan& plan, const Replica& replica);

/// What a server adds to the first token: receiving, tokenising, scheduling, sending.
double server_seconds(const Plan& plan);

/// ... and how far apart it lets requests in that come at one moment.
double admission_seconds(const Plan& plan);

}  // namespace vram
