#include "tools/robot_command.h"

#include <google/protobuf/text_format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/write_mesh.h"
#include "sim/robot/kinematics.h"
#include "sim/robot/read_robot.h"
#include "sim/robot/robot_text.h"
#include "tools/local_scene.h"
#include "tools/robot_scene.h"
#include "tools/soft_part.h"

namespace eipc {
namespace {

struct RobotOptions {
  std::string file;
  std::vector<std::string> joints;
  std::vector<std::string> packages;
  std::string scene;
  std::vector<std::string> dynamic;
  std::vector<std::string> soft;
  std::vector<double> base = {0, 0, 0};
};

// "NAME=VALUE", at the last '=': names may hold one.
absl::StatusOr<std::map<std::string, std::string>> Assignments(const std::vector<std::string>& texts, const char* option) {
  std::map<std::string, std::string> values;
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) {
      return absl::InvalidArgumentError(absl::StrCat(option, " ", text, ": must be NAME=VALUE"));
    }
    if (!values.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
      return absl::InvalidArgumentError(absl::StrCat(option, " ", text, ": is given twice"));
    }
  }
  return values;
}

absl::StatusOr<std::map<std::string, double>> Coordinates(const std::vector<std::string>& texts) {
  EIPC_ASSIGN_OR_RETURN(const auto assignments, Assignments(texts, "--joint"));
  std::map<std::string, double> coordinates;
  for (const auto& [name, text] : assignments) {
    if (!absl::SimpleAtod(text, &coordinates[name])) {
      return absl::InvalidArgumentError(absl::StrCat("--joint ", name, "=", text, ": is not a number"));
    }
  }
  return coordinates;
}

void PrintLines(const char* heading, const std::vector<std::string>& lines) {
  std::printf("%s:%s\n", heading, lines.empty() ? " nothing" : "");
  for (const std::string& line : lines) std::printf("  %s\n", line.c_str());
}

// Writes the scene and, in a folder beside it, its meshes.
absl::Status WriteScene(const RobotOptions& options, const RobotImport& import, const std::vector<double>& coordinates) {
  const std::filesystem::path path(options.scene);
  RobotSceneOptions made_of;
  made_of.base.position = Vec3(options.base[0], options.base[1], options.base[2]);
  made_of.base = made_of.base * import.root;
  made_of.coordinates = coordinates;
  made_of.dynamic = options.dynamic;
  made_of.mesh_folder = path.stem().string() + "_meshes";
  EIPC_ASSIGN_OR_RETURN(RobotScene made, MakeRobotScene(import.robot, made_of));
  std::vector<SoftPart> soft;
  for (const std::string& text : options.soft) {
    EIPC_ASSIGN_OR_RETURN(soft.emplace_back(), ParseSoftPart(text));
  }
  EIPC_RETURN_IF_ERROR(AddSoftParts(import.robot, made_of, soft, &made));
  const std::filesystem::path folder = path.parent_path() / made_of.mesh_folder;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return absl::UnavailableError(absl::StrCat(folder.string(), ": cannot be made: ", error.message()));
  for (const RobotScene::File& file : made.meshes) EIPC_RETURN_IF_ERROR(WriteMesh((folder / file.name).string(), file.mesh));
  std::string text;
  google::protobuf::TextFormat::PrintToString(made.scene, &text);
  std::ofstream out(path);
  out << "# proto-file: eipc/v1/scene.proto\n# proto-message: eipc.v1.Scene\n" << text;
  out.close();
  if (!out) return absl::UnavailableError(absl::StrCat(options.scene, ": cannot be written"));
  PrintLines("assumed", made.notes);
  return absl::OkStatus();
}

absl::Status PrintRobot(const RobotOptions& options) {
  EIPC_ASSIGN_OR_RETURN(const PackageFolders packages, Assignments(options.packages, "--package"));
  EIPC_ASSIGN_OR_RETURN(const auto given, Coordinates(options.joints));
  EIPC_ASSIGN_OR_RETURN(const RobotImport import, ReadRobot(options.file, packages));
  EIPC_ASSIGN_OR_RETURN(const std::vector<double> coordinates, JointCoordinates(import.robot, given));
  std::fputs(RobotText(import.robot, LinkPoses(import.robot, import.root, coordinates)).c_str(), stdout);
  PrintLines("ignored", import.ignored);
  if (!import.warnings.empty()) PrintLines("warnings", import.warnings);
  if (!options.scene.empty()) return WriteScene(options, import, coordinates);
  return absl::OkStatus();
}

int RunRobot(const RobotOptions& options) {
  const absl::Status status = PrintRobot(options);
  if (status.ok()) return 0;
  Complain(status);
  return status.code() == absl::StatusCode::kInvalidArgument ? 1 : 2;
}

}  // namespace

void AddRobotCommand(CLI::App& app, int* exit_status) {
  auto options = std::make_shared<RobotOptions>();
  CLI::App* command = app.add_subcommand("robot", "Import a robot description (URDF or SDF): print its tree and what was ignored");
  command->add_option("file", options->file, "Robot description")->required();
  command
      ->add_option("--joint", options->joints,
                   "NAME=COORDINATE, rad or m: place the links there (default: 0, or the nearest limit)")
      ->allow_extra_args(false);
  CLI::Option* scene = command->add_option(
      "--scene", options->scene,
      "FILE.textproto: write the robot as bodies and joints of a scene; its meshes go into FILE_meshes beside it");
  command
      ->add_option("--dynamic", options->dynamic,
                   "JOINT: in the scene forces move what is below this joint; may be repeated, fixed joints are welded then "
                   "(default: joints that mimic, and those they follow). All other links are kinematic")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--soft", options->soft,
          "\"NAME link=LINK KEY=VALUE...\": in the scene a soft body on this link, of mesh=FILE (tetrahedra) or block=X,Y,Z; "
          "may be repeated. The link holds its vertices in box=X0,Y0,Z0,X1,Y1,Z1 or within=DISTANCE of the link")
      ->allow_extra_args(false)
      ->needs(scene);
  command
      ->add_option("--base", options->base, "X Y Z, m: where the scene has the origin of the description (of URDF: the root link)")
      ->expected(3);
  command->add_option("--package", options->packages, "NAME=FOLDER: where package://NAME/ leads")->allow_extra_args(false);
  command->callback([options, exit_status] { *exit_status = RunRobot(*options); });
}

}  // namespace eipc
