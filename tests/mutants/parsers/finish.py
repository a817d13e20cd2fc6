"""Turns that end wrongly: what finish/* catches."""

from dataclasses import replace

from modeltest import Finish, FinishReason, StreamProtocolError, TextDelta, Usage

from .correct import ChatParser, ChatTurn
from .table import fails


@fails(
    "reader/turn",
    "finish/once-last",
    # Whatever a turn is, it ends twice.
    may=(
        "finish/*",
        "framing/*",
        "calls/*",
        "truncation/*",
    ),
)
class FinishesTwice(ChatParser):
    """At the reason, and at the marker."""

    class Turn(ChatTurn):
        def end(self):
            *deltas, finish = super().end()
            yield from [*deltas, finish, finish]


@fails("finish/reasons", says="length: the answer's reason: not what was sent")
class LengthIsStop(ChatParser):
    """Half an answer is one, too."""

    class Turn(ChatTurn):
        def neutral(self, word):
            return FinishReason.STOP if word == "length" else super().neutral(word)


@fails("finish/reasons", says=r"the provider's own word 'length' in Finish\.raw, got ''")
class LosesTheWord(ChatParser):
    """The neutral reason says it all."""

    class Turn(ChatTurn):
        def end(self):
            for event in super().end():
                known = isinstance(event, Finish) and event.reason in set(FinishReason)
                yield replace(event, raw="") if known else event


@fails("finish/empty", says="a whole answer raised StreamProtocolError: nothing came")
class NeedsContent(ChatParser):
    """A model that says nothing has failed."""

    class Turn(ChatTurn):
        spoke = False

        def content(self, delta):
            for event in super().content(delta):
                self.spoke = True
                yield event

        def end(self):
            if self.complete and not self.spoke:
                raise StreamProtocolError("nothing came")
            yield from super().end()


@fails("finish/unknown", says="the answer's reason: not what was sent")
class UnknownIsStop(ChatParser):
    """A word that is not known means nothing in particular."""

    class Turn(ChatTurn):
        def neutral(self, word):
            known = super().neutral(word)
            return known if known in set(FinishReason) else FinishReason.STOP


@fails(
    "finish/absent",
    "truncation/good-endings",
    says=r"\[DONE\], no finish: a whole answer raised IncompleteResponseError",
)
class NeedsAReason(ChatParser):
    """[DONE] without a reason is none."""

    class Turn(ChatTurn):
        @property
        def complete(self):
            return bool(self.reason)


@fails("finish/usage", says="usage on every event, growing: the usage is not what was sent")
class AddsUsageUp(ChatParser):
    """Each count is taken for what came since the last."""

    class Turn(ChatTurn):
        def count(self, usage):
            before = self.usage
            super().count(usage)
            pairs = zip(before.counts().values(), self.usage.counts().values(), strict=True)
            self.usage = Usage(*(a + b for a, b in pairs))


@fails(
    "finish/usage",
    "truncation/boundaries",
    may=("truncation/prefix",),
    says="- usage, but no finish: .* was taken for a finished answer",
)
class FinishesOnUsage(ChatParser):
    """Usage comes last, does it not?"""

    class Turn(ChatTurn):
        def count(self, usage):
            super().count(usage)
            self.reason = self.reason or "stop"


@fails(
    "finish/usage",
    may=("finish/after",),
    says="- usage after the finish: the usage is not what was sent",
)
class LosesUsage(ChatParser):
    """Reading stops at the reason."""

    class Turn(ChatTurn):
        def choice(self, choice):
            yield from super().choice(choice)
            if self.reason:
                self.done = True


@fails(
    "finish/after",
    may=("framing/any-bytes",),
    says="text after the finish: .* raised nothing: 5 events, among them Finish",
)
class PassesOnWhatFollows(ChatParser):
    """What comes after the reason is one more piece of the answer."""

    class Turn(ChatTurn):
        def choice(self, choice):
            yield from self.content(choice.get("delta"))
            self.reason = choice.get("finish_reason") or self.reason


@fails("finish/after", may=("calls/*",))
class IgnoresWhatFollows(ChatParser):
    """What comes after the reason does not matter."""

    class Turn(ChatTurn):
        def content(self, delta):
            return () if self.reason else super().content(delta)


@fails(
    "finish/duplicate",
    may=("finish/usage", "finish/after", "framing/any-bytes"),
)
class FinishesAtEachReason(ChatParser):
    """yield Finish(…), where the reason is read."""

    class Turn(ChatTurn):
        def choice(self, choice):
            yield from super().choice(choice)
            if choice.get("finish_reason"):
                yield from super().end()

        def end(self):
            return () if self.reason else super().end()


@fails("finish/duplicate", may=("finish/after",))
class ChokesOnRepeats(ChatParser):
    """A second reason contradicts the first, even if it is the same."""

    class Turn(ChatTurn):
        def choice(self, choice):
            if self.reason and choice.get("finish_reason"):
                raise StreamProtocolError("two reasons")
            return super().choice(choice)


@fails("finish/with-content", says="- finish beside the last text: the answer's text: not what was")
class FinishesBeforeItsContent(ChatParser):
    """if finish_reason: … elif content: …"""

    class Turn(ChatTurn):
        def choice(self, choice):
            if choice.get("finish_reason"):
                choice = {"finish_reason": choice["finish_reason"]}
            return super().choice(choice)


@fails(
    "finish/with-content",
    may=("reader/turn",),
    says="finish after text of many kinds: the answer's text: not what was sent",
)
class DropsBlanks(ChatParser):
    """Takes a delta of white space for none."""

    def read(self, body):
        for event in super().read(body):
            if not isinstance(event, TextDelta) or event.text.strip():
                yield event


@fails(
    "finish/with-content",
    may=("reader/turn",),
    says="finish after text of many kinds: the answer's text: not what was sent",
)
class DropsRepeats(ChatParser):
    """Takes a delta that equals the one before for the same, sent twice."""

    def read(self, body):
        last = None
        for event in super().read(body):
            if event != last:
                yield event
            last = event
