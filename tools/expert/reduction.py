"""The kind `reduction`: one value for each row, such as a sum, a mean, a maximum or a norm."""

from egg.tools.expert.rows.kind import Rows

KINDS = (Rows("reduction"),)
