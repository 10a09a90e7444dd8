"""What the package takes of `base`, the bench's lowest room: how a run folder is read, and what
chooses a program's board.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = [
    "NAMED",
    "BoardOptions",
    "EdgeList",
    "Manifest",
    "Maximum",
    "Statistics",
    "TailscopeError",
    "check_members",
    "read_edges",
    "read_interrupts",
    "read_manifest",
    "read_stored_operations",
]

if TYPE_CHECKING:
    from base.board_options import BoardOptions
    from base.files.errors import TailscopeError
    from base.metrology.summaries import Summary as Statistics
    from base.run_folder.edges import EdgeList
    from base.run_folder.folder import check_members
    from base.run_folder.manifest import Manifest, Maximum, read_edges, read_manifest
    from base.run_folder.named_quantities import NAMED
    from base.run_folder.tables import read_interrupts, read_stored_operations
else:
    from tailscope._program.base.board_options import BoardOptions
    from tailscope._program.base.files.errors import TailscopeError
    from tailscope._program.base.metrology.summaries import Summary as Statistics
    from tailscope._program.base.run_folder.edges import EdgeList
    from tailscope._program.base.run_folder.folder import check_members
    from tailscope._program.base.run_folder.manifest import Manifest, Maximum, read_edges, read_manifest
    from tailscope._program.base.run_folder.named_quantities import NAMED
    from tailscope._program.base.run_folder.tables import read_interrupts, read_stored_operations
