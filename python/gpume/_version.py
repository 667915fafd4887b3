# SPDX-License-Identifier: LGPL-2.1-or-later
"""The version, which the wheel fills in."""

__version__ = "0"
