"""``brelan``: the room's command line. One module a command; a module is read only when its command is asked for."""

from importlib import import_module

import click

COMMANDS = {
    "acl": "brelan.cli.acl:acl",
    "audit-deals": "brelan.cli.audit_deals:audit_deals",
    "backup": "brelan.cli.backup:backup",
    "bots": "brelan.cli.bots:bots",
    "dead": "brelan.cli.operating:dead",
    "furnish": "brelan.cli.setup:furnish",
    "keys": "brelan.cli.setup:keys",
    "replay": "brelan.cli.replay:replay",
    "restore": "brelan.cli.backup:restore",
    "simulate": "brelan.cli.simulate:simulate_command",
    "table": "brelan.cli.operating:table",
    "up": "brelan.cli.up:up",
    "verify-hand": "brelan.cli.verify_hand:verify_hand",
    "verify-log": "brelan.cli.verify_log:verify_log",
}


class Commands(click.Group):
    def list_commands(self, _context: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name].partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command


@click.group(cls=Commands)
@click.version_option(package_name="brelan")
def main() -> None:
    """An event-sourced poker room: fixed-limit 5 Card Draw 7-A and Seven-Card Stud."""
