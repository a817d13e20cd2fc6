"""faults: where a key, or a request, must not go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from modeltest.assertions import expect_refusal
from modeltest.backend import (
    Backend,
    Close,
    Response,
    answered,
    ended_cleanly,
    flowing,
    redirect,
    sent,
    without_last_chunk,
)
from modeltest.corpus import error_answer, error_bodies, html_page, request_for
from modeltest.harness import Evidence, Example, Failure, Level, Secret, Skip, check, count, refused
from modeltest.redaction import REDACTED
from modeltest.threads import chain_of, notes_of, repr_of, text_of

if TYPE_CHECKING:
    from modeltest.backend import Exchange
    from modeltest.delivery import Scenario, ServedContext


_REDIRECTS = (301, 302, 303, 307, 308)
_HEADERS = {"authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key"}
_PARAMETERS = {"key", "api_key", "access_token"}
"""What holds a key, though it be another than `api_key`."""

_HAND_OVER = "no request carries the api_key: pass `self.api_key` to the adapter in new_model"


@check(
    "faults/redirect",
    fix="do not follow redirects (`allow_redirects=False`), or remove every header and parameter "
    "with a key where the origin is another: HTTP clients remove Authorization alone",
    example=Example(
        "The Location is at another origin, which looks for the key in what it is sent.",
        sends=lambda _: redirect(307, "http://127.0.0.1:9999/elsewhere"),
        others=(
            *(f"HTTP {status}" for status in _REDIRECTS if status != 307),
            "a Location without a scheme, which begins with two slashes",
            "a redirect to the provider itself first",
        ),
    ),
)
def credentials_stay_with_the_provider(context: ServedContext) -> None:
    """A redirect to another origin does not take the key there.

    HTTP clients follow redirects, and remove no more than the Authorization header. A key in
    x-api-key, in the query or in the body goes to whoever the answer names.
    """
    with Backend(ended_cleanly(sent(context, range(2)))) as elsewhere:
        context.egress.allow(*elsewhere.address)
        there = f"{elsewhere.url}/elsewhere"
        schemeless = there.removeprefix("http:")
        ways: dict[str, tuple[Response, ...]] = {
            f"HTTP {status}": (redirect(status, there),) for status in _REDIRECTS
        }
        ways["HTTP 307, to //"] = (redirect(307, schemeless),)
        ways["HTTP 307, by way of the provider"] = redirect(307, "/moved"), redirect(307, there)
        for name, answers in ways.items():
            with context.case(name, *answers) as scenario:
                _expect_key_kept(scenario, name, elsewhere)
        name = "HTTP 307, to what begins like the provider"
        with context.case(name) as scenario:
            # Before the "@" stands who asks, as a browser sees it, and not who is asked.
            location = f"{scenario.backend.url}@{schemeless.removeprefix('//')}"
            scenario.backend.play(redirect(307, location))
            _expect_key_kept(scenario, name, elsewhere)


@check(
    "faults/egress",
    fix="send nothing but the one request to base_url: no telemetry, no update check, no "
    "look-up of model lists; build every URL from base_url",
    example=Example(
        "Every connection is watched, whoever opens it. What goes elsewhere is refused.",
        sends=lambda wire: ended_cleanly(sent(wire, range(2))),
        consumer="streams one turn",
        fault="the adapter, or a library under it, connects to another address than base_url's",
    ),
)
def only_the_provider_is_contacted(context: ServedContext) -> None:
    """Nothing but the provider's address is contacted.

    A prompt, or a key, that travels to a third host is a breach. An adapter that ignores
    base_url reaches the real provider from a test.
    """
    cases: dict[str, tuple[Response, Callable[[Scenario], object]]] = {
        "an answer that is cut": (ended_cleanly(sent(context, range(2))), _read),
        "an answer that breaks": (without_last_chunk(sent(context, range(2))), _read),
        "HTTP 500": (Response(status=500, content_type="text/plain"), _read),
        "an early break": (flowing(context), _leave_early),
    }
    for name, (response, use) in cases.items():
        before = len(context.egress.attempts)
        with context.case(name, response) as scenario:
            use(scenario)
            scenario.let_threads_rest()  # one of them may be about to connect
            attempts = context.egress.attempts[before:]
            if attempts:
                raise Failure(
                    f"{count(len(attempts), 'connection')} to elsewhere attempted, and refused; "
                    f"expected none but to {scenario.backend.url}.",
                    (refused(attempts),),
                )


@check(
    "faults/secret",
    Level.SHOULD,
    fix="quote neither headers nor URLs in an error; send the key in a header, not in the URL, "
    "which HTTP clients quote in theirs; raise `from None` where the cause quotes it",
    example=Example(
        "The error is looked at, and what it was raised from: str() and repr() of each.",
        server="refuses with 401, answers with a page, breaks off, or does not listen",
        consumer="streams one turn, catches the error",
        fault="the error's text has the api_key in it, as in a URL that the HTTP client quotes",
    ),
)
def errors_do_not_reveal_the_key(context: ServedContext) -> None:
    """No error reveals the key, and no cause of one does.

    Errors are logged, and logs are read by many.
    """
    secret, handed_over = context.target.secret, False
    for name, response in _failures(context):
        with context.case(name, response) as scenario:
            log = scenario.read()
            handed_over |= any(_carries(exchange, secret) for exchange in _asked(scenario))
            if not handed_over:
                raise Skip(_HAND_OVER)
            _expect_kept(log.error, secret)
    if handed_over:
        with context.case("connection refused") as scenario, scenario.nobody_listens():
            _expect_kept(scenario.read().error, secret)
        with context.case("a bad tool name", ended_cleanly(sent(context, range(2)))) as scenario:
            _expect_kept(scenario.read(request=request_for("get weather")).error, secret)


def _failures(context: ServedContext) -> Iterator[tuple[str, Response]]:
    """Yield what a turn may fail of."""
    yield "HTTP 401", answered(error_answer(context.target.wire, 401))
    yield "HTTP 502, a page", answered(html_page(502, "502 Bad Gateway"))
    yield "a page, with HTTP 200", answered(html_page(200, "Please log in"))
    yield "an answer that is cut", ended_cleanly(sent(context, range(2)))
    yield "an answer that breaks", without_last_chunk(sent(context, range(2)))
    yield from context.malformed_responses().items()
    yield "no answer", Response(before=(Close(),))
    if context.target.wire is not None:
        for body in context.bodies_if_any(error_bodies):
            yield body.name, context.response(body)


def _read(scenario: Scenario) -> object:
    return scenario.read()


def _leave_early(scenario: Scenario) -> None:
    stream = scenario.stream()
    stream.open()
    stream.take(1)
    stream.drop()


def _expect_key_kept(scenario: Scenario, name: str, elsewhere: Backend) -> None:
    """Read a turn that is sent away; expect no credential there, and an error if it stays."""
    before = len(elsewhere.exchanges)
    log = scenario.read()
    secrets = _secrets(scenario)
    away = elsewhere.exchanges[before:]
    for exchange in away:
        _expect_without(exchange, secrets, name)
    if not away:
        expect_refusal(scenario, log, f"{name}, which was not followed,")


def _asked(scenario: Scenario) -> list[Exchange]:
    if not scenario.backend.exchanges:
        raise Failure("the adapter sent no request.")
    return scenario.backend.exchanges


def _secrets(scenario: Scenario) -> list[Secret]:
    """Return what the provider was sent that nobody else may have.

    Raises:
        Skip: there is no credential in the requests.
    """
    values = {value for exchange in _asked(scenario) for value in _credentials(exchange)}
    known = scenario.target.secret
    found = [Secret(value) for value in sorted(values)]
    found += [known] if any(_carries(exchange, known) for exchange in _asked(scenario)) else []
    if not any(secret.spellings for secret in found):
        raise Skip(_HAND_OVER)
    return found


def _credentials(exchange: Exchange) -> Iterator[str]:
    """Yield the values of the headers and parameters that are credentials by their names."""
    parameters = parse_qsl(urlsplit(exchange.path).query)
    yield from (value for name, value in parameters if name in _PARAMETERS)
    for name, value in exchange.headers.items():
        if name.lower() in _HEADERS:
            yield value.removeprefix("Bearer ")


def _places(exchange: Exchange, secret: Secret) -> Iterator[str]:
    """Yield where in a request the secret stands."""
    for name, value in exchange.headers.items():
        if secret.is_in(value):
            yield f"the header {name}"
    if secret.is_in(exchange.path):
        yield "the URL"
    if secret.is_in(exchange.body):
        yield "the body"


def _carries(exchange: Exchange, secret: Secret) -> bool:
    return any(_places(exchange, secret))


def _expect_without(exchange: Exchange, secrets: list[Secret], name: str) -> None:
    places = {place: None for secret in secrets for place in _places(exchange, secret)}
    if places:
        raise Failure(
            f"after {name} with a Location at another origin, the key was sent there, in "
            f"{' and '.join(places)}.",
            (Evidence("request", str(exchange)),),
        )


def _expect_kept(error: BaseException | None, secret: Secret) -> None:
    """Expect that neither the error nor what it is chained to says the secret."""
    for link in chain_of(error):
        whose = "the error" if link is error else f"a cause of it ({type(link).__name__})"
        texts = ("text", text_of(link)), ("repr", repr_of(link)), ("notes", notes_of(link))
        for what, said in texts:
            if secret.is_in(said):
                raise Failure(f"{whose} reveals the key in its {what}: {_around(secret, said)}")


def _around(secret: Secret, text: str) -> str:
    """Return what stands around the secret in a text, on one line, without the secret."""
    line = " ".join(secret.redact(text).split())
    start = max(0, line.find(REDACTED) - _SHOWN)
    shown = line[start : start + 2 * _SHOWN]
    return f"{'…' if start else ''}{shown}{'…' if line[start:] != shown else ''}"


_SHOWN = 200
"""Characters before and behind the place of a secret."""
