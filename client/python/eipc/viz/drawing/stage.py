"""A hidden window of VTK, kept between pictures.

Two layers share a camera and their depths. In the lower one are the bodies and a disc of ground below them, lit by directional lights
with a shadow map each. In the upper one is what casts and takes no shadow: the surroundings of the disc and the grid's lines, which
would make the maps coarse. The window is square, since VTK's maps are right in square windows only; pictures are cut out of it.
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

import numpy as np
import vtkmodules.vtkRenderingOpenGL2  # noqa: F401  (makes the classes below be those of OpenGL)
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkUnsignedCharArray
from vtkmodules.vtkFiltersCore import vtkPolyDataNormals
from vtkmodules.vtkRenderingCore import vtkActor, vtkLight, vtkPolyDataMapper, vtkRenderer, vtkRenderWindow
from vtkmodules.vtkRenderingOpenGL2 import (vtkCameraPass, vtkRenderPassCollection, vtkSequencePass, vtkShadowMapBakerPass,
                                            vtkShadowMapPass)

from .ground import Plane
from .meshes import Mesh, edges, segments, surface

_DISC_RADII = 2.4  # of the disc below the bodies, in radii of the bodies
_BARE_DISC = 0.3  # without bodies: in lengths over which the ground fades
_AMBIENT = 0.4  # share of the light that comes from everywhere, also into shadows
_LINE_PX = 1.5
# Factor and units of OpenGL's polygon offset.
_BEFORE_BODIES, _BEFORE_SURFACES = (-6.0, -8.0), (-1.0, -4.0)
_SAMPLES = 4
_SHININESS = 40.0
_NEARER, _LEAST_NEAR = 0.4, 2e-3  # the near plane: in distances of what is nearest, and at least in those of the far plane


class Stage:
    """Draws one picture after the other."""

    def __init__(self) -> None:
        self._window = vtkRenderWindow()
        self._window.SetShowWindow(False)
        self._window.SetUseOffScreenBuffers(True)
        self._window.SetMultiSamples(_SAMPLES)
        self._window.SetNumberOfLayers(2)
        self._lower, self._upper = vtkRenderer(), vtkRenderer()
        self._upper.SetLayer(1)
        self._upper.PreserveDepthBufferOn()
        self._upper.SetActiveCamera(self._lower.GetActiveCamera())
        self._lower.GradientBackgroundOn()
        for layer in (self._lower, self._upper):
            layer.AutomaticLightCreationOff()
            self._window.AddRenderer(layer)
        self._maps, shadows, passes = vtkShadowMapBakerPass(), vtkShadowMapPass(), vtkRenderPassCollection()
        shadows.SetShadowMapBakerPass(self._maps)
        passes.AddItem(self._maps)
        passes.AddItem(shadows)
        in_turn, through_camera = vtkSequencePass(), vtkCameraPass()
        in_turn.SetPasses(passes)
        through_camera.SetDelegatePass(in_turn)
        self._lower.SetPass(through_camera)

    def __repr__(self) -> str:
        return f"Stage({self._lower.GetActors().GetNumberOfItems()} bodies and ground)"

    def draw(self, items: Sequence[dict[str, Any]], camera: dict[str, Any], size: tuple[int, int], supersampling: int,
             ground: Optional[dict[str, Any]], lights: dict[str, Any], background: tuple[Sequence[float], Sequence[float]]) -> np.ndarray:
        """The picture [h,w,3] uint8. items: fields of viz.Item, ground: of viz.Ground. camera: eye, target, vertical_fov_deg. size: width
        and height. lights: sun and sky, unit directions towards them, [k,3], their shares of the light and map_size. background: colours
        at the upper and the lower edge."""
        points = np.concatenate([np.zeros((0, 3)), *(item["vertices"][np.unique(item["triangles"])] for item in items)])
        low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(3), np.zeros(3))
        middle = 0.5 * (low + high)
        radius = float(np.linalg.norm(points - middle, axis=1).max()) if len(points) else 0.0
        plane = None
        if ground is not None:
            plane = Plane(**ground, middle=(middle[0], middle[1]), radius_m=_DISC_RADII * radius or _BARE_DISC * ground["fade_m"])
        self._lower.RemoveAllViewProps()
        self._upper.RemoveAllViewProps()
        for item in items:
            self._lower.AddActor(_body(item))
            if item["wire"] > 0:
                self._add_flat(segments, edges(item), supersampling)
        if plane is not None:
            self._lower.AddActor(_actor(surface(*plane.disc())))
            self._add_flat(surface, plane.surroundings(), supersampling)
            if plane.grid_m > 0:
                self._add_flat(segments, plane.grid(), supersampling)
        self._light(middle, max(radius, 1e-3), **lights)
        self._lower.SetBackground(*background[1])
        self._lower.SetBackground2(*background[0])
        self._aim(camera, points, middle, plane)
        return self._picture(size, supersampling)

    def _add_flat(self, make: Callable[..., Any], mesh: Mesh, supersampling: int) -> None:
        """Puts a mesh, whose colours have opacity, into the upper layer, without light."""
        actor = _actor(make(*mesh))
        actor.GetProperty().LightingOff()
        actor.GetProperty().SetLineWidth(_LINE_PX * supersampling)
        actor.ForceTranslucentOn()
        # It is seen before the surface on which it lies: nearer by what depth changes by over a pixel.
        mapper = actor.GetMapper()
        mapper.SetResolveCoincidentTopologyToPolygonOffset()
        mapper.SetRelativeCoincidentTopologyPolygonOffsetParameters(*_BEFORE_BODIES)
        mapper.SetRelativeCoincidentTopologyLineOffsetParameters(*_BEFORE_SURFACES)
        self._upper.AddActor(actor)

    def _light(self, middle: np.ndarray, radius: float, sun: np.ndarray, sky: np.ndarray, shares: tuple[float, float], map_size: int) -> None:
        """Lights that together make a face that faces up, in nobody's shadow, as bright as its colour."""
        self._lower.RemoveAllLights()
        self._maps.SetResolution(map_size)
        for directions, share, shines in ((sun, shares[0], True), (sky, shares[1], False)):
            for direction in directions:
                light = vtkLight()
                light.SetLightTypeToSceneLight()
                light.SetPosition(*(middle + 10 * radius * direction))
                light.SetFocalPoint(*middle)
                light.SetIntensity(share / float(directions[:, 2].sum()))
                light.SetSpecularColor(*(3 * [1.0 if shines else 0.0]))
                self._lower.AddLight(light)

    def _aim(self, camera: dict[str, Any], points: np.ndarray, middle: np.ndarray, plane: Optional[Plane]) -> None:
        """Depths are as fine as what is nearest allows."""
        eye, view = np.asarray(camera["eye"], dtype=float), self._lower.GetActiveCamera()
        view.SetPosition(*eye)
        view.SetFocalPoint(*camera["target"])
        view.SetViewUp(0, 0, 1)
        view.SetViewAngle(camera["vertical_fov_deg"])
        depths = (points - eye) @ np.asarray(view.GetDirectionOfProjection())
        nearest, far = [depths.min()] if len(points) else [], float(depths.max()) if len(points) else 0.0
        if plane is not None:
            nearest.append(abs(eye[2] - plane.height_m))
            far = max(far, float(np.linalg.norm(middle - eye)) + plane.reach_m)
        far = 1.01 * max(far, 1e-3)
        view.SetClippingRange(max(_NEARER * min(nearest, default=far), _LEAST_NEAR * far), far)

    def _picture(self, size: tuple[int, int], supersampling: int) -> np.ndarray:
        width, height = supersampling * size[0], supersampling * size[1]
        side = max(width, height)
        left, below = (side - width) // 2, (side - height) // 2
        view = self._lower.GetActiveCamera()
        # The angle given is that of the picture's height. Its middle is half a pixel beside the window's where sizes differ by an odd number.
        view.SetViewAngle(2 * np.degrees(np.arctan(np.tan(np.radians(0.5 * view.GetViewAngle())) * side / height)))
        view.SetWindowCenter((side - width - 2 * left) / side, (side - height - 2 * below) / side)
        self._window.SetSize(side, side)
        self._window.Render()
        pixels = vtkUnsignedCharArray()
        self._window.GetPixelData(left, below, left + width - 1, below + height - 1, 0, pixels, 0)
        image = vtk_to_numpy(pixels).reshape(height, width, 3)[::-1]
        if supersampling == 1:
            return np.ascontiguousarray(image)
        blocks = image.reshape(size[1], supersampling, size[0], supersampling, 3)
        return np.round(blocks.mean(axis=(1, 3))).astype(np.uint8)


def _actor(mesh: Any) -> vtkActor:
    mapper, actor = vtkPolyDataMapper(), vtkActor()
    mapper.SetInputData(mesh)
    actor.SetMapper(mapper)
    properties = actor.GetProperty()
    properties.SetAmbient(_AMBIENT)
    properties.SetDiffuse(1 - _AMBIENT)
    properties.SetSpecular(0.0)
    return actor


def _body(item: dict[str, Any]) -> vtkActor:
    colors = np.asarray(item["color"], dtype=float)
    normals = vtkPolyDataNormals()
    normals.SetInputData(surface(item["vertices"], item["triangles"], colors if colors.ndim == 2 else None))
    normals.SetFeatureAngle(item["crease_deg"])
    normals.ConsistencyOff()
    normals.Update()
    actor = _actor(normals.GetOutput())
    properties = actor.GetProperty()
    mean = colors if colors.ndim == 1 else colors.mean(axis=0)
    properties.SetColor(*mean)
    properties.SetSpecular(item["gloss"])
    properties.SetSpecularPower(_SHININESS)
    return actor
