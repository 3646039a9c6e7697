// libFuzzer target: a scene as text (first byte '#') or as a serialized message, through every stage of a request: conversion,
// validation, compilation. It may be refused, never crash. What compiles takes a step.

#include <google/protobuf/stubs/logging.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "eipc/v1/scene.pb.h"
#include "server/convert/scene_convert.h"
#include "server/convert/scene_text.h"
#include "sim/dynamics/world.h"
#include "sim/scene/compile_scene.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}

// Now and then turns text into the message it stands for: bytes of numbers are better changed there.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  if (seed % 4 == 0 && size > 0 && data[0] == '#') {
    const auto scene = eipc::ParseSceneText(std::string(reinterpret_cast<char*>(data), size), "fuzzed");
    const std::string bytes = scene.ok() ? scene->SerializeAsString() : "";
    if (!bytes.empty() && bytes.size() <= max_size) {
      std::memcpy(data, bytes.data(), bytes.size());
      size = bytes.size();
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  eipc::v1::Scene scene;
  if (size > 0 && data[0] == '#') {
    auto parsed = eipc::ParseSceneText(std::string(reinterpret_cast<const char*>(data), size), "fuzzed");
    if (!parsed.ok()) return 0;
    scene = *std::move(parsed);
  } else if (!scene.ParseFromArray(data, static_cast<int>(size))) {
    return 0;
  }
  // Making cages, and waiting for equilibrium, take seconds and are not tested here.
  scene.set_start_in_equilibrium(false);
  for (eipc::v1::Body& body : *scene.mutable_bodies()) {
    if (body.has_embedded()) body.mutable_embedded()->clear_cage_vertices();
  }
  eipc::Problems problems;
  const auto spec = eipc::SceneFromProto(scene, eipc::MeshResolver({}), &problems);
  if (!spec.ok()) return 0;
  const auto model = eipc::CompileScene(*spec, std::move(problems));
  if (!model.ok() || (*model)->node_count > 200) return 0;
  eipc::World world(*model);
  (void)world.Step({0.01, {}}, {});
  return 0;
}
