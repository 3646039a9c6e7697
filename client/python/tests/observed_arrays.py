"""The arrays of an episode, made from its observations as a user sees them: what the columns of a recorder must be equal to."""

import numpy as np

_WRENCH_PARTS = {"normal_force_n": "normal_force", "friction_force_n": "friction_force", "normal_moment_nm": "normal_moment",
                 "friction_moment_nm": "friction_moment"}
_RECEIPT_FIGURES = {"first_step": np.int64, "step": np.int64, "min_distance_m": float, "min_ccd_fraction": float, "residual_m_s": float,
                    "target_error_m": float, "newton_iterations": np.int32, "missed_targets": np.int32, "inverted_elements": np.int64}
_DRIVE_FIGURES = {"commanded": float, "position_m": float, "velocity_m_s": float, "effort_n": float, "saturated": bool, "blocked": bool}


def observation_arrays(observations, with_surface):
    """Arrays over the T + 1 observations of an episode, its start and the end of each step. with_surface: the bodies whose surfaces
    are kept because they cannot be made from their cages."""
    first, samples = observations[0], len(observations)
    out = {
        "time_s": np.array([seen.time_s for seen in observations]),
        "step": np.array([seen.step for seen in observations], dtype=np.int64),
        "min_distance_m": np.array([np.inf if seen.min_distance_m is None else seen.min_distance_m for seen in observations]),
        "body_names": _names(first.bodies),
    }
    bodies = (samples, len(first.bodies))
    out.update(position_m=np.empty((*bodies, 3)), orientation_wxyz=np.empty((*bodies, 4)), linear_velocity_m_s=np.empty((*bodies, 3)),
               angular_velocity_rad_s=np.empty((*bodies, 3)))
    for b, name in enumerate(first.bodies):
        seen = [observation.bodies[name] for observation in observations]
        for s, body in enumerate(seen):
            assert body.pose is not None  # the recorder asks for poses
            out["position_m"][s, b], out["orientation_wxyz"][s, b] = body.pose.position, body.pose.orientation
            out["linear_velocity_m_s"][s, b], out["angular_velocity_rad_s"][s, b] = body.linear_velocity, body.angular_velocity
        out[f"cage_{b}"] = np.array([body.cage_positions for body in seen])
        if name in with_surface:
            out[f"surface_{b}"] = np.array([body.surface_positions for body in seen], dtype=np.float32)
    return {**out, **_contact_arrays(observations), **_frame_arrays(observations), **_drive_arrays(observations)}


def receipt_arrays(start, receipts):
    """Arrays over the T steps, and `state_digest` over the T + 1 observations."""
    out = {f"receipt_{name}": np.array([getattr(receipt, name) for receipt in receipts], dtype=kind)
           for name, kind in _RECEIPT_FIGURES.items()}
    out["receipt_outcome"] = np.array([receipt.outcome.value for receipt in receipts], dtype=np.int32)
    out["state_digest"] = np.array([start.state_digest, *(receipt.state_digest for receipt in receipts)], dtype="S16")
    return out


def _names(names):
    return np.array(list(names), dtype=np.str_)


def _pair_names(pairs):
    return _names(pairs).reshape(-1, 2)


def _contact_arrays(observations):
    samples = len(observations)
    ordered = sorted({pair for seen in observations for pair in seen.contact_wrenches})
    place = {pair: k for k, pair in enumerate(ordered)}
    out = {"wrench_pairs": _pair_names(ordered), **{name: np.zeros((samples, len(ordered), 3)) for name in _WRENCH_PARTS}}
    counts = []
    for seen in observations:
        assert seen.contact_counts is not None  # the recorder asks for them
        counts.append(seen.contact_counts)
    pairs = sorted({pair for count in counts for pair in count.pairs})
    column = {pair: k for k, pair in enumerate(pairs)}
    out["contact_pairs"] = _pair_names(pairs)
    out["contacts"] = np.array([(count.point_triangle, count.edge_edge) for count in counts], dtype=np.int32)
    out["pair_contacts"] = np.zeros((samples, len(pairs), 2), dtype=np.int32)
    for s, seen in enumerate(observations):
        for pair, wrench in seen.contact_wrenches.items():
            for name, part in _WRENCH_PARTS.items():
                out[name][s, place[pair]] = getattr(wrench, part)
        for pair, count in counts[s].pairs.items():
            out["pair_contacts"][s, column[pair]] = count.point_triangle, count.edge_edge
    return out


def _frame_arrays(observations):
    frames = list(observations[0].boundary_poses)
    seen = [[observation.boundary_poses[frame] for frame in frames] for observation in observations]
    out = {"frame_names": _pair_names(frames)}
    out["frame_position_m"], out["frame_orientation_wxyz"] = _pose_arrays([[pose.achieved for pose in row] for row in seen])
    out["frame_target_position_m"], out["frame_target_orientation_wxyz"] = _pose_arrays([[pose.commanded for pose in row] for row in seen])
    out["frame_error_m"] = np.array([[pose.error_m for pose in row] for row in seen]).reshape(len(seen), -1)
    return out


def _pose_arrays(poses):
    shape = (len(poses), len(poses[0]))
    positions, orientations = np.empty((*shape, 3)), np.empty((*shape, 4))
    for s, row in enumerate(poses):
        for f, pose in enumerate(row):
            positions[s, f], orientations[s, f] = pose.position, pose.orientation
    return positions, orientations


def _drive_arrays(observations):
    names = list(observations[0].drives)
    seen = [[observation.drives[name] for name in names] for observation in observations]
    out = {"drive_names": _pair_names(names)}
    out["drive_mode"] = np.array([[drive.mode.value for drive in row] for row in seen], dtype=np.int32).reshape(len(seen), -1)
    for name, kind in _DRIVE_FIGURES.items():
        out[f"drive_{name}"] = np.array([[getattr(drive, name) for drive in row] for row in seen], dtype=kind).reshape(len(seen), -1)
    return out
