# find_package(eipc-client) makes the target eipc::client: headers "client/cpp/client.h", static libraries, and what they need.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(Protobuf)
find_dependency(absl CONFIG)
find_dependency(gRPC CONFIG)

if(NOT TARGET eipc::client)
  get_filename_component(_eipc_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
  foreach(_eipc_part proto_messages proto client)
    add_library(eipc::${_eipc_part} STATIC IMPORTED)
    set_target_properties(eipc::${_eipc_part} PROPERTIES
      IMPORTED_LOCATION "${_eipc_prefix}/lib/libeipc_${_eipc_part}.a"
      INTERFACE_INCLUDE_DIRECTORIES "${_eipc_prefix}/include/eipc")
  endforeach()
  set_property(TARGET eipc::proto_messages PROPERTY INTERFACE_LINK_LIBRARIES protobuf::libprotobuf)
  set_property(TARGET eipc::proto PROPERTY INTERFACE_LINK_LIBRARIES eipc::proto_messages gRPC::grpc++)
  set_property(TARGET eipc::client PROPERTY INTERFACE_LINK_LIBRARIES eipc::proto absl::status absl::statusor absl::strings Threads::Threads)
  set_property(TARGET eipc::client PROPERTY INTERFACE_COMPILE_FEATURES cxx_std_20)
  unset(_eipc_prefix)
endif()
