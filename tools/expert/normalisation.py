"""The kind `normalisation`: rows brought to a common scale, named (LayerNorm, RMSNorm, GroupNorm) or spelled out."""

from egg.tools.expert.rows.kind import Rows

KINDS = (Rows("normalisation"),)
