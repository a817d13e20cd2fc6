"""Images of a request, checked before anything is sent, and in base64."""

from __future__ import annotations

import base64
from collections.abc import Set as AbstractSet

from modeltest import ConfigError, Image, Request

OPENAI_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
ANTHROPIC_IMAGES = OPENAI_IMAGES
GEMINI_IMAGES = frozenset({"image/jpeg", "image/png", "image/webp", "image/heic", "image/heif"})
# The format does not say what an image is; these are what the server can decode.
OLLAMA_IMAGES = frozenset({"image/jpeg", "image/png", "image/webp"})


def check_images(request: Request, media_types: AbstractSet[str]) -> None:
    """Refuse images that the provider would refuse, or that its format has no place for.

    Raises:
        ConfigError: an image without bytes, of another type than `media_types`, or in a message
            that is not the user's.
    """
    for message in request.messages:
        for part in message.parts:
            if isinstance(part, Image):
                _check(part, message.role, media_types)


def _check(image: Image, role: str, media_types: AbstractSet[str]) -> None:
    if role != "user":
        raise ConfigError(f"image: expected in a user message, got one in a message of {role!r}")
    if image.media_type not in media_types:
        raise ConfigError(
            f"image: expected one of {', '.join(sorted(media_types))}, got {image.media_type!r}"
        )
    if not image.data:
        raise ConfigError(f"image: expected the bytes of an {image.media_type}, got none")


def as_base64(image: Image) -> str:
    """Return the image's bytes as text."""
    return base64.b64encode(image.data).decode("ascii")


def as_data_url(image: Image) -> str:
    """Return a URL that is the image itself."""
    return f"data:{image.media_type};base64,{as_base64(image)}"
