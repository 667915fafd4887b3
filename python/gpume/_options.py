# SPDX-License-Identifier: LGPL-2.1-or-later
"""What ffmpeg says about the filters; filled in where the wheel is made."""

from typing import Dict

HELP: Dict[str, str] = {}
