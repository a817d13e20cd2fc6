"""Lines, fields and events that are told apart wrongly: what framing/* catches."""

from modeltest import ModelError, StreamProtocolError

from .correct import ChatParser, ChatTurn
from .table import fails

DIFFERENT = "the re-encoded stream was parsed differently"

# Lines


@fails("framing/unicode", says=r"- U\+2028: expected the text 'a\\u2028b', got ''")
class SplitsAtUnicodeLines(ChatParser):
    """iter_lines(decode_unicode=True), which is str.splitlines."""

    def lines(self, body):
        for line in super().lines(body):
            yield from line.splitlines() or [""]


@fails(
    "framing/chunks",
    # A byte order mark that comes in pieces is one more character torn.
    may=("framing/bom", "calls/large", "framing/large"),
    says=f"1 byte at a time: {DIFFERENT}",
)
class DecodesEachRead(ChatParser):
    """A character that lies across two reads becomes two that are none."""

    def byte_lines(self, body):
        line, after_cr = "", False
        for chunk in self.chunks(body):
            text = chunk.decode("utf-8", "replace")
            piece = text.removeprefix("\n") if after_cr else text
            after_cr = text.endswith("\r")
            *ends, rest = piece.replace("\r\n", "\n").replace("\r", "\n").split("\n")
            for end in ends:
                yield (line + end).encode()
                line = ""
            line += rest


@fails("framing/line-ends", says=f"data over two lines, CRLF, each in two pieces: {DIFFERENT}")
class SplitsEachRead(ChatParser):
    """The CR of one read ends a line, the LF of the next an empty one."""

    def byte_lines(self, body):
        line = b""
        for chunk in self.chunks(body):
            *ends, rest = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
            for end in ends:
                yield line + end
                line = b""
            line += rest


@fails("framing/line-ends", says=f"- text, CR: {DIFFERENT}")
class EndsLinesAtLineFeeds(ChatParser):
    """split("\\n"), and a CR before it is taken away."""

    def byte_lines(self, body):
        buffer = b""
        for chunk in self.chunks(body):
            *lines, buffer = (buffer + chunk).split(b"\n")
            yield from (line.removesuffix(b"\r") for line in lines)


@fails(
    "framing/large", says=r"- 70 kB: expected the text 'long text .*\(70002 characters\), got ''"
)
class CutsLines(ChatParser):
    """readline(65536), as if no line were longer."""

    def text(self, line):
        return super().text(line[:65_536])


@fails("framing/large", may=("calls/large",))
class CapsLines(ChatParser):
    """Reads at most 64 kB of a line, and takes the rest for the next one."""

    def lines(self, body):
        for line in super().lines(body):
            for at in range(0, max(1, len(line)), 65_536):
                yield line[at : at + 65_536]


@fails("framing/large", may=("calls/large",))
class LosesLongTexts(ChatParser):
    """What does not fit is left out."""

    class Turn(ChatTurn):
        def take(self, data):
            return super().take(data) if len(data) < 70_000 else ()


@fails("framing/charset", served=True, says=f"text/event-stream: {DIFFERENT}")
class BelievesTheCharset(ChatParser):
    """response.text, which is ISO-8859-1 where the header says so, or nothing."""

    encoding = "utf-8"

    def lines(self, body):
        self.encoding = body.response.encoding or "utf-8"
        return super().lines(body)

    def text(self, line):
        return line.decode(self.encoding, "replace")


@fails("framing/bom", says=f"in pieces: {DIFFERENT}")
class KeepsTheByteOrderMark(ChatParser):
    """Nobody sends one."""

    def without_mark(self, line):
        return line


@fails(
    "framing/invalid-utf8",
    "truncation/prefix",
    "framing/any-bytes",
    says=r"UnicodeDecodeError: (.*\n)+?.*framing\.py:\d+",
)
class DecodesStrictly(ChatParser):
    """A byte that is no UTF-8 cannot come."""

    def text(self, line):
        return line.decode("utf-8")


# Fields


@fails("framing/space", says=f"no space after the colon: {DIFFERENT}")
class NeedsTheSpace(ChatParser):
    """startswith("data: ")"""

    def value(self, line):
        return line.removeprefix("data: ") if line.startswith("data: ") else None


@fails("framing/comments", says=f"- text, comments inside events: {DIFFERENT}")
class TakesCommentsForData(ChatParser):
    """line.partition(":")[2], whatever stands before it."""

    def value(self, line):
        return line.partition(":")[2].strip() if line.startswith((":", "data")) else None


@fails("framing/comments", says=f"{DIFFERENT} \\(ModelError: a line without a name\\)")
class ChokesOnComments(ChatParser):
    """Every line has a name."""

    def value(self, line):
        if line.startswith(":"):
            raise ModelError("a line without a name")
        return super().value(line)


@fails("framing/fields", says=f"fields of no meaning: {DIFFERENT}")
class ChokesOnFields(ChatParser):
    """Every field has a meaning."""

    def value(self, line):
        if not line.startswith(("data", "event", ":")):
            raise StreamProtocolError(f"unexpected line {line!r}")
        return super().value(line)


# Events


@fails("framing/split-data", says=f"data over two lines: {DIFFERENT}")
class TakesTheLastData(ChatParser):
    """Data over several lines is only the last of them."""

    def joined(self, data):
        return data[-1]


@fails("framing/blank-lines", says=f"more blank lines: {DIFFERENT}")
class ChokesOnBlankLines(ChatParser):
    """An empty line ends an event; where none began, something is wrong."""

    def lines(self, body):
        before = ""
        for line in super().lines(body):
            if not line and not before:
                raise StreamProtocolError("an empty event")
            before = line
            yield line


@fails("framing/empty-data", says=DIFFERENT)
class ChokesOnEmptyData(ChatParser):
    """An event with empty data is no JSON."""

    class Turn(ChatTurn):
        def take(self, data):
            if not data.strip():
                raise StreamProtocolError("empty data")
            return super().take(data)


@fails(
    "framing/malformed",
    says="- broken JSON between good events: .* was taken for a finished answer",
)
class SkipsBrokenJSON(ChatParser):
    """except json.JSONDecodeError: continue"""

    class Turn(ChatTurn):
        def parse(self, data):
            try:
                return super().parse(data)
            except StreamProtocolError:
                return {}


@fails("framing/any-bytes", says=r"(Key|Type)Error: (.*\n)+  bytes    b'data: ")
class TrustsTheKeys(ChatParser):
    """chunk["choices"][0]"""

    class Turn(ChatTurn):
        def choices(self, chunk):
            return chunk["choices"] and [chunk["choices"][0]]


@fails(
    "framing/unknown-event",
    # A delta that is null has no kind to look at.
    may=("framing/any-bytes",),
    says="a delta of an unknown kind: a whole answer raised StreamProtocolError",
)
class ChokesOnUnknownDeltas(ChatParser):
    """Every kind of delta is known."""

    class Turn(ChatTurn):
        def content(self, delta):
            unknown = set(delta) - {"role", "content", "refusal", "tool_calls"}
            if unknown:
                raise StreamProtocolError(f"unknown delta {unknown}")
            return super().content(delta)


@fails("framing/unknown-event")
class ChokesOnTheUnknown(ChatParser):
    """A field that is not known is a mistake."""

    class Turn(ChatTurn):
        def take(self, data):
            if "modeltest_unknown" in data and '"finish_reason":"modeltest' not in data:
                raise ModelError("an unknown field")
            return super().take(data)
