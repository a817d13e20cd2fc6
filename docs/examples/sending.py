"""What goes out: a request is checked before it is sent, and sent so that its answer streams."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping
from http.cookiejar import DefaultCookiePolicy

import requests
from urllib3.exceptions import HTTPError

from .events import BadRequestError, Object
from .reading import connection_failed, is_stream, rest, status_error


def check_key(key: str) -> str:
    """Refuse a key that no header can hold; the error does not say it."""
    if not (key.isascii() and key.isprintable()):
        raise BadRequestError("expected an API key of printable ASCII characters")
    return key


def check_request(request: Object, names: str) -> None:
    """Refuse names that do not match `names`, and a choice that cannot be made."""
    declared, choice = [tool["name"] for tool in request["tools"]], request["choice"]
    parts = [part for message in request["messages"] for part in message["parts"]]
    # A model may have made a name up; sent back, it makes every later request fail.
    for name in declared + [part["name"] for part in parts if part["type"] == "call"]:
        # fullmatch: "$" would let a line feed pass. And `names` has no \w, for its letters are
        # those of every script.
        if not re.fullmatch(names, name):
            raise BadRequestError(f"expected a tool's name to be {names}, got {name!r}")
    if len(set(declared)) < len(declared):
        raise BadRequestError(f"expected tools of different names, got {declared}")
    for message in request["messages"]:
        role, kinds = message["role"], {part["type"] for part in message["parts"]}
        if role not in ("system", "user", "assistant", "tool"):
            raise BadRequestError(f"unknown role {role!r}")
        if "image" in kinds and role != "user":
            raise BadRequestError(f"expected images in a user's message, got one of {role!r}'s")
    match choice and (choice["mode"], choice["name"]):
        case None | ("auto" | "none", _):
            return
        case ("required", _) if declared:
            return
        case ("tool", name) if name in declared:
            return
    raise BadRequestError(f"the tool choice {choice} cannot be made of the tools {declared}")


def text_of(message: Object) -> str:
    """Return the text of a message."""
    return "".join(part["text"] for part in message["parts"] if part["type"] == "text")


def base64_of(part: Object, kinds: Iterable[str]) -> str:
    """Return an image's bytes as text, if the provider takes it."""
    if part["media_type"] not in kinds or not part["data"]:
        wanted = f"expected the bytes of an image of {', '.join(kinds)}"
        raise BadRequestError(f"{wanted}, got {len(part['data'])} of {part['media_type']!r}")
    return base64.b64encode(part["data"]).decode("ascii")


def encode(body: Object) -> bytes:
    """Return the JSON of a request; any mapping will do for an object."""
    try:
        return json.dumps(body, allow_nan=False, default=dict).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise BadRequestError(f"the request is no JSON: {error}") from error


def own_session() -> requests.Session:
    """Return a session that keeps no cookies: it serves many users, and would tie them together."""
    session = requests.Session()
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    return session


def post(
    session: requests.Session,
    url: str,
    body: bytes,
    *,
    secret: Mapping[str, str],
    key: str,
    idle_timeout: float | None,
    media_type: str = "text/event-stream",
) -> requests.Response:
    """Send a request; return once the headers of a stream are there.

    Raises:
        ChatError: no answer, or one that is no stream; nothing is left open.
    """

    def sign(request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers.update(secret)
        return request

    try:
        response = session.post(
            url,
            data=body,
            # Not gzip: a compressed stream comes in blocks, not as it is written.
            headers={"Content-Type": "application/json", "Accept-Encoding": "identity"},
            auth=sign,  # a header given otherwise would lose to a password in a .netrc
            stream=True,
            allow_redirects=False,  # the key stays with the provider
            timeout=(10.0, idle_timeout),
        )
    except (OSError, HTTPError, UnicodeError) as error:  # some of urllib3's pass requests
        failure = connection_failed(error, key)
    else:
        if is_stream(response.status_code, response.headers, media_type):
            return response
        with response:
            start = rest(response.raw, 65536, 1.0)
        failure = status_error(response.status_code, response.headers, start, key)
    # Raised here: within `except` the library's error, which may quote the key, would be the
    # context of ours.
    raise failure
