"""The contract on published clients: adapters that wrap a provider's own package."""

import os

# Two packages would contact their makers otherwise: one when it is imported, for a list of prices,
# one with its first request of the day, for a list of agents that may be running it.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
