"""The kind `softmax`: softmax and log-softmax of rows."""

from egg.tools.expert.rows.kind import Rows

KINDS = (Rows("softmax"),)
