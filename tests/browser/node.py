"""The page's own modules in node: those without a page in them are plain functions, and are tested as such."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.requirements import PROJECT, need_program

WEB = PROJECT / "services" / "gateway" / "brelan_gateway" / "web"


class Node:
    """A copy of the page's modules in ``folder`` (node wants to be told that they are modules)."""

    def __init__(self, folder: Path) -> None:
        self._program = need_program("node", "nodejs")
        self._folder = folder
        shutil.copytree(WEB, folder, dirs_exist_ok=True)
        (folder / "package.json").write_text('{"type": "module"}')

    def run(self, script: str, given: object = None) -> Any:
        """What ``script`` leaves in ``answer``; it finds ``given`` under that name. Both go through JSON."""
        source = "\n".join(
            (
                'import { readFileSync } from "node:fs";',
                'const given = JSON.parse(readFileSync(0, "utf8"));',
                script,
                "process.stdout.write(JSON.stringify(answer));",
            )
        )
        file = self._folder / "script.js"
        file.write_text(source)
        done = subprocess.run(
            [self._program, str(file)], input=json.dumps(given), capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
