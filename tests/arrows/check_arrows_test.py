"""Plants one include after another in a temporary tree and expects check_arrows to judge each rightly."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import check_arrows

# (file, line to plant, fragment of the expected reason, or None where the include is allowed)
CASES = [
    ("sim/base/a.h", '#include "sim/linalg/b.h"', "sim/base may not include sim/linalg"),
    ("sim/linalg/a.cc", '#include "sim/geometry/b.h"', "sim/linalg may not include sim/geometry"),
    ("sim/mesh/a.cc", '#include "sim/geometry/b.h"', None),
    ("sim/mesh/a.cc", '#include "sim/contact/b.h"', "sim/mesh may not include sim/contact"),
    ("sim/collision/a.cc", '#include "sim/meshing/b.h"', "sim/collision may not include sim/meshing"),
    ("sim/robot/a.cc", '#include "sim/mesh/b.h"', None),
    ("sim/robot/a.cc", '#include "sim/collision/b.h"', "sim/robot may not include sim/collision"),
    ("sim/collision/a.cc", '#include "sim/contact/b.h"', "sim/collision may not include sim/contact"),
    ("sim/contact/a.cc", '#include "sim/mesh/b.h"', None),
    ("sim/energy/a.cc", '#include "sim/material/b.h"', None),
    ("sim/energy/a.cc", '#include "sim/solver/b.h"', "sim/energy may not include sim/solver"),
    ("sim/solver/a.cc", '#include "sim/audit/b.h"', "sim/solver may not include sim/audit"),
    ("sim/dynamics/a.cc", '#include "sim/audit/b.h"', None),
    ("sim/meshing/a.cc", '#include "sim/audit/b.h"', None),
    ("sim/dynamics/a.cc", '#include "sim/scene/b.h"', "sim/dynamics may not include sim/scene"),
    ("sim/scene/a.cc", '#include "sim/meshing/b.h"', None),
    ("sim/scene/a.cc", '#include "eipc/v1/scene.pb.h"', "sim/scene may not see Protobuf"),
    ("sim/scene/a.cc", "#include <grpcpp/grpcpp.h>", "sim/scene may not see gRPC"),
    ("sim/audit/a.cc", '#include "sim/base/b.h"', None),
    ("sim/audit/a.cc", '#include "sim/geometry/b.h"', "sim/audit may not include sim/geometry"),
    ("sim/audit/a.cc", "#include <CGAL/Surface_mesh.h>", None),
    ("sim/meshing/a.cc", "  #  include <CGAL/Mesh_3.h>", None),
    ("sim/geometry/a.cc", "#include <CGAL/Surface_mesh.h>", "sim/geometry may not see CGAL"),
    ("sim/unknown/a.cc", "", "not named by the arrows"),
    ("server/session/a.cc", '#include "sim/scene/b.h"', None),
    ("server/session/a.cc", '#include "server/convert/b.h"', "server/session may not include server/convert"),
    ("server/session/a.cc", "#include <google/protobuf/message.h>", "server/session may not see Protobuf"),
    ("server/convert/a.cc", '#include "eipc/v1/scene.pb.h"', None),
    ("server/convert/a.cc", '#include "server/session/b.h"', "server/convert may not include server/session"),
    ("server/convert/a.cc", "#include <grpcpp/server.h>", "server/convert may not see gRPC"),
    ("server/rpc/handlers/a.cc", '#include "server/convert/b.h"', None),
    ("server/rpc/handlers/a.cc", '#include "tools/b.h"', "server/rpc/handlers may not include tools"),
    ("server/rpc/handlers/a.cc", '#include "server/rpc/listen/b.h"', "server/rpc/handlers may not include server/rpc/listen"),
    ("server/rpc/handlers/a.cc", "#include <grpcpp/server.h>", "server/rpc/handlers may not see gRPC"),
    ("server/rpc/telemetry/a.cc", '#include "server/rpc/handlers/b.h"', "server/rpc/telemetry may not include server/rpc/handlers"),
    ("server/rpc/listen/a.cc", '#include "server/rpc/handlers/b.h"', None),
    ("server/main.cc", '#include "server/rpc/listen/b.h"', None),
    ("client/cpp/a.cc", '#include "eipc/v1/service.grpc.pb.h"', None),
    ("client/cpp/a.cc", '#include "sim/base/b.h"', "client may not include sim/base"),
    ("client/cpp/a.cc", '#include "server/convert/b.h"', "client may not include server/convert"),
    ("models/a.cc", '#include "sim/meshing/b.h"', None),
    ("models/a.cc", "#include <CGAL/Mesh_3.h>", "models may not see CGAL"),
    ("tools/a.cc", '#include "server/convert/b.h"', None),
    ("sim/base/a.h", '/* an example:\n#include "sim/scene/b.h"\n*/', None),
    ("sim/base/a.h", '// #include "sim/scene/b.h"', None),
]


class CheckArrowsTest(unittest.TestCase):
    def test_planted_includes(self):
        for file, text, expected in CASES:
            with self.subTest(file=file, text=text), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / file
                path.parent.mkdir(parents=True)
                path.write_text(f"// first line\n{text}\n")
                files, violations = check_arrows.check(pathlib.Path(folder))
                self.assertEqual(files, 1)
                if expected is None:
                    self.assertEqual(violations, [])
                else:
                    self.assertEqual(len(violations), 1, violations)
                    self.assertIn(expected, violations[0])
                    self.assertTrue(violations[0].startswith(file + ":"), violations[0])

    def test_reports_the_line_and_the_exit_status(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "sim/base/a.h"
            path.parent.mkdir(parents=True)
            path.write_text('\n\n#include "sim/scene/b.h"\n')
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                self.assertEqual(check_arrows.main([folder]), 1)
                path.write_text("\n")
                self.assertEqual(check_arrows.main([folder]), 0)
            self.assertIn("sim/base/a.h:3: ", output.getvalue())

    def test_an_empty_tree_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(check_arrows.main([folder]), 2)


if __name__ == "__main__":
    unittest.main()
