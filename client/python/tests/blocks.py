"""Blocks of tetrahedra as files, for tests of the commands."""

AXES = [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)]


def write_block(path, cells=5, size=0.1):
    """A cube of tetrahedra as a legacy VTK file."""
    n = cells + 1
    points = [f"{size * i / cells} {size * j / cells} {size * k / cells}" for k in range(n) for j in range(n) for i in range(n)]
    tets, stride = [], (1, n, n * n)
    for k in range(cells):
        for j in range(cells):
            for i in range(cells):
                for at, axes in enumerate(AXES):
                    a = i + n * (j + n * k)
                    b = a + stride[axes[0]]
                    c = b + stride[axes[1]]
                    d = c + stride[axes[2]]
                    tets.append(f"4 {a} {b} {c} {d}" if at < 3 else f"4 {a} {c} {b} {d}")
    path.write_text("\n".join(["# vtk DataFile Version 3.0", "block", "ASCII", "DATASET UNSTRUCTURED_GRID", f"POINTS {len(points)} double",
                               *points, f"CELLS {len(tets)} {5 * len(tets)}", *tets, f"CELL_TYPES {len(tets)}", *["10"] * len(tets)]) + "\n")
