"""Resources and widths from excerpts of LLVM's AMD assembly."""

from egg.tools.assembly.amdgcn import read
from egg.tools.assembly.compiled import Access, Spill

TEXT = """
gemm:                                   ; @gemm
	.file	1 "/scratch" "candidate.py"
	.loc	1 7 0 prologue_end              ; candidate.py:7:0
	s_load_dwordx2 s[2:3], s[0:1], 0x0
	.loc	1 13 16                         ; candidate.py:13:16
	global_load_dwordx4 v[2:5], v[2:3], off
	buffer_load_ushort v1, v2, s[0:3], 0 offen
	.loc	1 0 16 is_stmt 0                ; :0:16
	buffer_load_dwordx2 v[1:2], v2, s[0:3], 0 offen
	.loc	1 15 16                         ; candidate.py:15:16
	scratch_store_dword off, v5, s32 offset:8 ; 4-byte Folded Spill
	scratch_load_dwordx2 v[5:6], off, s32 offset:8 ; 8-byte Folded Reload
	v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]
	ds_read_b64 v[84:85], v77
	.loc	1 17 5                          ; candidate.py:17:5
	global_store_dwordx2 v[0:1], v[2:3], off
	global_store_byte v0, v1, off
	s_endpgm
amdhsa.kernels:
  - .agpr_count:     16
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 24
    .sgpr_count:     24
    .sgpr_spill_count: 0
    .vgpr_count:     120
    .vgpr_spill_count: 5
"""


def test_all_that_the_text_tells() -> None:
    found = read(TEXT, "candidate.py")
    assert (found.registers, found.spills, found.stack_bytes) == (120, 20, 24)
    assert found.tensor_core == "mfma"
    assert found.loads == (
        Access(line=13, bits=16),
        Access(line=13, bits=64),
        Access(line=13, bits=128),
    )
    assert found.stores == (Access(line=17, bits=8), Access(line=17, bits=64))
    assert found.spilled == (Spill(line=15, bytes=12, count=2),)


def test_without_matrix_instructions() -> None:
    assert read(TEXT.replace("v_mfma", "v_fma"), "candidate.py").tensor_core == "none"
