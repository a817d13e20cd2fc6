"""Streams whose thread does not stop, stops too late, or ends badly."""

from __future__ import annotations

import threading

from modeltest import Event

from .parrot import Pump, PumpedParrot, PumpedStream


class ReadsWithoutLimit(PumpedParrot):
    """The queue between thread and consumer has no size."""

    class Pump(Pump):
        size = 10**9


class NeverStops(PumpedParrot):
    """The same, and the thread reads on when nobody listens any more."""

    class Pump(Pump):
        size = 10**9

        def stop(self) -> None:
            pass

    class Stream(PumpedStream):
        def close(self) -> None:
            self.stop()


class WaitsForRoom(PumpedParrot):
    """The thread waits for room in a full queue, and nobody will make any."""

    class Pump(Pump):
        def put(self, item: Event) -> bool:
            with self.changed:
                self.changed.wait_for(lambda: self.freed or len(self.ready) < self.size)
                self.ready.append(item)
                self.changed.notify_all()
                return not self.freed

    class Stream(PumpedStream):
        def close(self) -> None:
            self.stop()


class StopsBetweenEvents(PumpedParrot):
    """The thread looks between two events whether it is still wanted."""

    class Pump(Pump):
        def stop(self) -> None:
            with self.changed:
                self.stopped = True
                self.changed.notify_all()


class KeepsItsStream(PumpedParrot):
    """The thread runs a method of the stream, which is therefore never dropped."""

    class Stream(PumpedStream):
        def __init__(self, pump: Pump) -> None:
            self.pump = pump
            self.thread = threading.Thread(target=self.run, name="parrot-pump")
            self.thread.start()

        def run(self) -> None:
            self.pump.run()

        def stop(self) -> None:
            self.pump.stop()


class StaysAfterAnError(PumpedParrot):
    """After an error the thread waits for the consumer's answer, which never comes."""

    class Pump(Pump):
        def end(self, error: BaseException | None) -> None:
            super().end(error)
            if error is not None and not self.stopped:
                with self.changed:
                    self.changed.wait_for(lambda: self.freed)

    class Stream(PumpedStream):
        def close(self) -> None:
            self.stop()


class DiesWhenStopped(PumpedParrot):
    """A thread that is told to stop ends with an exception that nobody catches."""

    class Pump(Pump):
        def end(self, error: BaseException | None) -> None:
            super().end(error)
            if self.stopped:
                raise LookupError("nobody waits for the events")


class FewThreads(PumpedParrot):
    """All streams share four threads: a fifth waits until one of them has ended."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        threads = threading.BoundedSemaphore(4)

        class Shared(Pump):
            def run(self) -> None:
                with threads:
                    super().run()

        self.Pump = Shared
