"""Numbers as a model reads them."""

from egg.state.evaluation import Baseline, Launch, StaticProfile


def profile_text(profile: StaticProfile, baseline: Baseline) -> str:
    """The launches of a forward pass, the estimate, and what the hardware allows."""
    lines = [f"- {_launch(launch)}" for launch in profile.launches]
    if profile.torch_ops:
        lines.append(f"- PyTorch does: {', '.join(profile.torch_ops)}")
    lines.append(
        f"Estimated {profile.estimate_ms:.4g} ms, bound by {profile.bottleneck}; "
        f"roofline {baseline.roofline_ms:.4g} ms ({baseline.bound})."
    )
    return "\n".join(lines)


def _launch(launch: Launch) -> str:
    grid = "x".join(str(size) for size in launch.grid)
    spills = f", {launch.spills} B spilled" if launch.spills else ""
    return (
        f"{launch.kernel}: grid {grid} ({launch.waves:.2f} waves), {launch.warps} warps, {launch.stages} stages, "
        f"{launch.registers} registers{spills}, {launch.shared_bytes} B shared, "
        f"occupancy {launch.occupancy:.0%} (limited by {launch.limiter}), {launch.bytes / 1e6:.3g} MB, "
        f"tensor cores: {launch.tensor_core}, est. {launch.estimate_ms:.4g} ms"
    )
