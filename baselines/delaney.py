"""Delaney's equation for aqueous solubility, from the molecule alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from rdkit import Chem
from rdkit.Chem import Crippen, Descriptors, rdMolDescriptors
from sklearn.base import BaseEstimator, RegressorMixin

from scoregnn.errors import InputError, InvalidMoleculeError
from scoregnn.molecules import parse_molecule


class DelaneyRegressor(RegressorMixin, BaseEstimator):
    """log S = 0.16 - 0.63 logP - 0.0062 weight + 0.066 rotatable bonds - 0.74 aromatic proportion, in log mol/L.

    The published equation with its published coefficients; nothing is fitted. Delaney took logP from Daylight's
    ClogP, here it is RDKit's Crippen logP, so that single values differ from those printed in his table.

    Source: J. S. Delaney, J. Chem. Inf. Comput. Sci. 2004, 44, 1000, doi:10.1021/ci034243x.

    Example
    -------
    >>> DelaneyRegressor().fit(["CCO"], [1.1]).predict(["c1ccccc1"]).round(2)
    array([-2.13])
    """

    def fit(self, X: Sequence[str], y: Any = None) -> Self:
        """Fits nothing; here so that the equation can stand beside models that learn."""
        self.n_seen_ = len(X)
        return self

    def predict(self, X: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
        """log S of each molecule [n] in log mol/L; raises `InputError` naming the first that cannot be read."""
        if isinstance(X, str):
            raise InputError("a sequence of SMILES is needed, not a single one: put it into a list")
        values = np.empty(len(X))
        for row, smiles in enumerate(X):
            try:
                values[row] = delaney_equation(*delaney_properties(parse_molecule(smiles)))
            except InvalidMoleculeError as error:
                raise InputError(f"X[{row}]: {error}") from None
        return values


def delaney_properties(mol: Chem.Mol) -> tuple[float, float, float, float]:
    """Crippen logP, molecular weight (g/mol), rotatable bonds, share of heavy atoms that are aromatic."""
    aromatic = sum(atom.GetIsAromatic() for atom in mol.GetAtoms())
    return (
        Crippen.MolLogP(mol),
        Descriptors.MolWt(mol),
        float(rdMolDescriptors.CalcNumRotatableBonds(mol)),
        aromatic / max(mol.GetNumHeavyAtoms(), 1),
    )


def delaney_equation(logp: float, weight: float, rotatable_bonds: float, aromatic_proportion: float) -> float:
    """log S in log mol/L from the four properties."""
    return 0.16 - 0.63 * logp - 0.0062 * weight + 0.066 * rotatable_bonds - 0.74 * aromatic_proportion
