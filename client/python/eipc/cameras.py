"""Cameras of the server: pictures of the state that an observation is of, as NumPy arrays. eipc.camera draws where the client runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional

import numpy as np

from . import arrays
from .camera import Camera
from .geometry import Pose
from .shown import brief
from .v1 import observation_pb2

# What a server says that draws pictures (ServerInfo.capabilities); an earlier one ignores cameras.
CAPABILITY = "cameras"
# Segmentation of pixels that show no body.
NO_BODY = 65535
_OF_THE_SERVER = ("ambient", "palette", "background")


@brief
@dataclass(frozen=True, eq=False)
class CameraSense:
    """A camera that the server looks through at the end of a request, and what is wanted of it.

    camera: its pose is in the world, or in the frame of `body`, with which it moves then. Light and colours of bodies are the server's,
    which are those of eipc.camera.Camera by default: ValueError for others.
    """

    camera: Camera
    body: str = ""
    depth: bool = True
    segmentation: bool = True
    colour: bool = False

    def __post_init__(self) -> None:
        default = Camera(Pose())
        for name in _OF_THE_SERVER:
            if self.colour and not np.array_equal(getattr(self.camera, name), getattr(default, name)):
                raise ValueError(f"the server draws with its own {name}; see with eipc.camera.Camera to choose it")

    def to_message(self, name: str) -> observation_pb2.Camera:
        return observation_pb2.Camera(
            name=name, pose=self.camera.pose.to_message(), body=self.body, width=self.camera.width, height=self.camera.height,
            fov_y_rad=self.camera.fov_y_rad, near_m=self.camera.near_m, far_m=0.0 if np.isinf(self.camera.far_m) else self.camera.far_m,
            depth=self.depth, segmentation=self.segmentation, colour=self.colour)


@brief
@dataclass(frozen=True, eq=False)
class CameraPicture:
    """What a camera of the server saw; arrays are read-only views of the message, None where they were not asked for."""

    camera: Camera  # as it stood in the world
    depth: Optional[np.ndarray]  # [h, w] float32, m along the camera's z, inf where nothing is
    segmentation: Optional[np.ndarray]  # [h, w] uint16: index in `bodies`, NO_BODY where nothing is
    colour: Optional[np.ndarray]  # [h, w, 3] uint8: red, green, blue
    bodies: tuple[str, ...]  # all of the scene
    # Why there are no arrays: the call ended while the picture was drawn, or there was no room. Session.state() draws it anew.
    unfinished: str = ""

    def shows(self, body: str) -> np.ndarray:
        """[h, w] bool: the pixels of a body. ValueError for an unknown body, or without segmentation."""
        return shown_pixels(self.segmentation, self.bodies, body, self.unfinished)

    def points(self) -> np.ndarray:
        """[n, 3] the points of the world that are seen, row by row, m. ValueError without depth."""
        if self.depth is None:
            raise ValueError("the picture has no depth" + (f": {self.unfinished}" if self.unfinished else ""))
        seen = np.isfinite(self.depth)
        return np.asarray(self.camera.pose.position + self.depth[seen][:, None] * self.camera.rays()[seen])


def shown_pixels(segmentation: Optional[np.ndarray], bodies: tuple[str, ...], body: str, unfinished: str = "") -> np.ndarray:
    """Of the shape of the segmentation, bool: where it shows a body. ValueError for an unknown body, or without segmentation."""
    if segmentation is None:
        raise ValueError("the picture has no segmentation" + (f": {unfinished}" if unfinished else ""))
    if body not in bodies:
        raise ValueError(f"no body {body!r}; there are: {', '.join(bodies)}")
    return np.asarray(segmentation == bodies.index(body))


def camera_messages(cameras: Mapping[str, CameraSense]) -> list[observation_pb2.Camera]:
    return [sense.to_message(name) for name, sense in cameras.items()]


def _camera(message: observation_pb2.Camera) -> Camera:
    return Camera(Pose.from_message(message.pose), message.width, message.height, message.fov_y_rad, message.near_m,
                  message.far_m or np.inf)


def pictures_from_message(message: observation_pb2.CameraPictures) -> dict[str, CameraPicture]:
    """By the cameras' names. Raises ValueError when a shape and its data do not agree."""
    def found(picture: Any, name: str) -> Optional[np.ndarray]:
        return arrays.to_numpy(getattr(picture, name)) if picture.HasField(name) else None

    bodies = tuple(message.bodies)
    return {picture.camera.name: CameraPicture(_camera(picture.camera), found(picture, "depth"), found(picture, "segmentation"),
                                               found(picture, "colour"), bodies, picture.unfinished)
            for picture in message.pictures}
