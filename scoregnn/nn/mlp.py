"""Multilayer perceptrons: a stack of layers, and MLP-SCORE, one layer iterated."""

from __future__ import annotations

from torch import Tensor, nn

from scoregnn.nn.recurrence import ContractiveRecurrence


def mlp(width_in: int, hidden: int, layers: int, width_out: int, dropout: float) -> nn.Sequential:
    """Linear layers of width `hidden` with SiLU and dropout between: [n, width_in] -> [n, width_out]."""
    parts: list[nn.Module] = []
    for layer in range(layers):
        parts += [nn.Linear(width_in if layer == 0 else hidden, hidden), nn.SiLU(), nn.Dropout(dropout)]
    parts.append(nn.Linear(hidden if layers else width_in, width_out))
    return nn.Sequential(*parts)


class ScoreMLP(nn.Module):
    """MLP-SCORE: a linear map to the width, F(h) = LeakyReLU(W h + b) iterated, a linear map to the outputs.

    Source: the MLP family of SCORE (Godin 2026, arXiv 2603.10544). steps, dt, integrator, velocity, dropout: as in
    `ContractiveRecurrence`. share: one layer for all iterations, or one for each; with share=False and dt=1 it is an
    ordinary MLP of equal width.

    Shapes: [n, width_in] -> [n, width_out].
    """

    def __init__(
        self,
        width_in: int,
        hidden: int,
        width_out: int,
        *,
        steps: int = 4,
        dt: float = 0.25,
        integrator: str = "euler",
        velocity: str = "contractive",
        share: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.into = nn.Linear(width_in, hidden)
        layers = [nn.Sequential(nn.Linear(hidden, hidden), nn.LeakyReLU()) for _ in range(1 if share else steps)]
        self.recurrence = ContractiveRecurrence(
            layers[0] if share else layers,
            steps=steps,
            dt=dt,
            integrator=integrator,
            velocity=velocity,
            dropout=dropout,
        )
        self.out = nn.Linear(hidden, width_out)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.recurrence(self.into(x)))  # type: ignore[no-any-return]

    def every_step(self, x: Tensor) -> list[Tensor]:
        """What the output layer gives after each iteration."""
        return [self.out(h) for h in self.recurrence.trajectory(self.into(x))]
