"""The catalogue of all Prometheus metrics: every number the room exports is defined here.

Units stand last in a name. Labels are bounded (games, kinds, codes, services): never a table, a player or a hand.
``health.Health`` serves them on ``/metrics``. Each has a panel on a dashboard; alerts are in ``deploy/prometheus``.
"""

from prometheus_client import Counter, Gauge, Histogram

_FAST = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)

# Play.

hands_completed = Counter("brelan_hands_completed", "Hands played to their end.", ["game"])
hands_voided = Counter("brelan_hands_voided", "Hands called off, all bets returned.", ["game"])
seeds_withheld = Counter("brelan_seeds_withheld", "Seats that kept back their seed: their hand was void.")
actions = Counter("brelan_actions", "Players' decisions taken into the log.", ["game", "kind"])
rejections = Counter("brelan_rejections", "Commands refused, by the code the player got.", ["code"])
open_tables = Gauge("brelan_open_tables", "Tables open on the shards of this worker.")
frozen_tables = Gauge("brelan_frozen_tables", "Tables stopped because something about them is wrong.")
seated_players = Gauge("brelan_seated_players", "Players with a seat on the shards of this worker.")

# Time.

action_to_ack_seconds = Histogram(
    "brelan_action_to_ack_seconds", "From a command's arrival at the gateway to its answer.", buckets=_FAST
)
action_to_broadcast_seconds = Histogram(
    "brelan_action_to_broadcast_seconds",
    "From a command's arrival at the gateway to the event on the sockets of its table.",
    buckets=_FAST,
)
timeout_lateness_seconds = Histogram(
    "brelan_timeout_lateness_seconds", "From a turn's deadline to its enforcement.", buckets=_FAST
)
early_timeouts = Counter("brelan_early_timeouts", "Timeouts that came before their deadline, and were ignored.")
tails_lost = Counter(
    "brelan_tails_lost", "Reports that the end of a shard's log was lost, by who had seen it.", ["reader"]
)
deadlines_dispatched = Counter("brelan_deadlines_dispatched", "Due deadlines handed to Celery.")
deadlines_redispatched = Counter(
    "brelan_deadlines_redispatched",
    "Due deadlines handed to Celery again: the task, its worker or the broker was lost.",
)

# The event log.

inbox_waiting_entries = Gauge(
    "brelan_inbox_waiting_entries", "Entries found waiting when the inboxes were last read.", ["service"]
)
inbox_lag_seconds = Gauge(
    "brelan_inbox_lag_seconds", "Age of the oldest entry when the inboxes were last read.", ["service"]
)
commits = Counter("brelan_commits", "Commits that took effect.", ["service"])
commit_batch_entries = Histogram(
    "brelan_commit_batch_entries", "Entries consumed by one commit.", ["service"], buckets=_SIZES
)
commit_seconds = Histogram("brelan_commit_seconds", "Duration of a commit.", ["service"], buckets=_FAST)
commits_fenced = Counter("brelan_commits_fenced", "Commits refused because another worker had taken over.", ["service"])
takeovers = Counter("brelan_takeovers", "Shards taken over (fenced and loaded).", ["service"])
takeover_seconds = Histogram(
    "brelan_takeover_seconds",
    "From the fence to the state being loaded.",
    ["service"],
    buckets=(0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0),
)
owned_shards = Gauge("brelan_owned_shards", "Shards this worker owns.", ["service"])
processor_crashes = Counter(
    "brelan_processor_crashes", "Processors that ended with an error and were restarted.", ["service"]
)
dead_letters = Counter("brelan_dead_letters", "Entries that could not be handled.", ["service"])
trimming_held_back_seconds = Gauge(
    "brelan_trimming_held_back_seconds",
    "Age of the oldest entries that cannot be trimmed because a reader has not taken them yet.",
    ["reader"],
)
streams_set_aside = Counter(
    "brelan_streams_set_aside",
    "Streams left alone because they do not end where their only writer left them.",
    ["service"],
)
store_errors = Counter("brelan_store_errors", "Times the event log could not be reached or refused.", ["service"])

unreadable_tables = Gauge("brelan_unreadable_tables", "Tables left alone because their log cannot be read.")

# Money.

ledger_imbalance_minor_units = Gauge(
    "brelan_ledger_imbalance_minor_units", "Sum of all accounts of the ledger: anything but 0 is wrong."
)
escrow_difference_minor_units = Gauge(
    "brelan_escrow_difference_minor_units", "Escrow in the ledger less chips on the tables, with nothing on its way."
)
ledger_accounts = Gauge("brelan_ledger_accounts", "Accounts of the ledger.")
ledger_checked = Counter(
    "brelan_ledger_checked",
    "Transfers and postings the auditor has looked at: new ones, and all of them again (swept).",
    ["what", "how"],
)
ledger_sweeps = Counter("brelan_ledger_sweeps", "Times the auditor has looked at the whole ledger.")
ledger_faults = Gauge("brelan_ledger_faults", "Things the auditor found wrong with the ledger: must be 0.")
suspense_minor_units = Gauge(
    "brelan_suspense_minor_units", "What stands in suspense after a lost tail, until somebody has looked."
)
unpublished_replies = Gauge("brelan_unpublished_replies", "Replies in the wallet's books, not yet on their streams.")
unpublished_reply_seconds = Gauge(
    "brelan_unpublished_reply_seconds", "How long the oldest of them has been seen waiting."
)
wallet_transfers = Counter("brelan_wallet_transfers", "Transfers asked of the wallet.", ["kind", "outcome"])

overdue_transfers = Gauge(
    "brelan_overdue_transfers", "Transfers that the wallet has not answered for more than a minute, or has declined."
)

# Dealing.

deals = Counter("brelan_deals", "Answers of the dealer.", ["kind"])
dealer_seconds = Histogram("brelan_dealer_seconds", "The dealer's time for one answer.", ["kind"], buckets=_FAST)

# Gateway.

sockets = Gauge("brelan_sockets", "Open WebSockets.")
messages_sent = Counter("brelan_messages_sent", "Messages sent to WebSockets.")
slow_reader_closes = Counter("brelan_slow_reader_closes", "WebSockets closed because they did not read.")
login_failures = Counter("brelan_login_failures", "Failed logins.")

# History and periodic work.

hands_stored = Counter("brelan_hands_stored", "Finished hands written to SQL.")
celery_tasks_dispatched = Counter("brelan_celery_tasks_dispatched", "Tasks handed to Celery.", ["task"])

# The process.

build_info = Gauge("brelan_build_info", "1, for the version in its label.", ["service", "version"])
