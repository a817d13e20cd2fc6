import asyncio
import os
import queue
import sys
import tempfile
import threading
import types
import unittest
from pathlib import Path
from unittest import mock

from modeltest.threads import stacks
from modeltest.threads.stacks import awaits, position, relative, stack, waits_at


class TestThreads(unittest.TestCase):
    def block(self):
        self.queue.get()  # where it waits

    def blocked(self, target):
        """Start a thread that waits in `target`, and return it once it stands still there."""
        self.queue = queue.Queue()
        thread = threading.Thread(target=target, daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.queue.put, None)
        while not any("waiter.acquire()" in line for line in stack(thread)):
            pass
        return thread

    def test_waits_at_the_adapters_innermost_line(self):
        where = waits_at(self.blocked(self.block))
        self.assertIn("test_stacks.py:", where)
        self.assertIn("in block: self.queue.get()", where)

    def test_a_thread_without_a_line_of_the_adapters_waits_in_the_library(self):
        thread = self.blocked(lambda: self.queue.get())
        with mock.patch.object(stacks, "adapter_spots", lambda spots: []):
            self.assertIn("in wait: waiter.acquire()", waits_at(thread))

    def test_a_thread_that_has_ended_or_never_began_waits_nowhere(self):
        for start in False, True:
            thread = threading.Thread(target=list)
            if start:
                thread.start()
                thread.join()
            self.assertEqual(waits_at(thread), "")
            self.assertEqual(stack(thread), [])
            self.assertIsNone(position(thread))

    def test_the_innermost_frame_comes_last(self):
        lines = stack(self.blocked(self.block))
        functions = [line.partition(" in ")[2].partition(":")[0] for line in lines]
        self.assertEqual(functions[-3:], ["block", "get", "wait"])

    def test_the_adapters_line_comes_first_where_the_library_is_deeper(self):
        thread = self.blocked(self.block)
        with mock.patch.object(stacks, "SHOWN", 2):
            first, *rest = stack(thread)
        self.assertIn("in block: self.queue.get()", first)
        self.assertTrue(first.endswith(" …"))
        self.assertEqual(len(rest), 2)
        self.assertNotIn("test_stacks.py", "".join(rest))

    def test_an_installed_adapter_is_found_where_nothing_else_is_the_adapters(self):
        site = stacks.INSTALLED[0]
        adapter, client = (stacks.Spot(site + file, 1, "f") for file in ("acme/a.py", "httpx/b.py"))
        module = stacks.Spot(site + "acme_adapter.py", 1, "f")
        library = stacks.Spot(threading.__file__, 1, "f")
        own = stacks.Spot("/somewhere/adapter.py", 1, "f")
        for spots, expected in (
            ([library, client, adapter, own], [own]),
            ([library, client, adapter, module], [adapter, module]),
            ([library, client], []),
        ):
            self.assertEqual(stacks.adapter_spots(spots), expected)

    def test_the_kits_frames_are_left_out_and_the_demos_are_not(self):
        kit = str(Path(stacks.__file__).parents[1]) + os.sep
        for file, is_kit in {
            kit + "backend/server.py": True,
            kit + "demo/acme.py": False,
            "/elsewhere/modeltest/backend.py": False,
        }.items():
            self.assertEqual(stacks.is_kit_spot(stacks.Spot(file, 1, "f")), is_kit, file)

    def test_the_position_of_a_thread_that_stands_still_is_the_same(self):
        thread, other = self.blocked(self.block), threading.current_thread()
        before = position(thread)
        self.assertEqual(position(thread), before)
        self.assertNotEqual(position(other), before)
        self.assertNotEqual(position(other), position(other))

    def test_a_frame_between_two_lines_has_the_functions_number(self):
        frame = mock.Mock(f_lineno=None)
        frame.f_code.co_filename, frame.f_code.co_firstlineno = "x.py", 7
        frame.f_code.co_name = "f"
        self.assertEqual(list(stacks.spots_of([frame])), [stacks.Spot("x.py", 7, "f")])


class TestAwaits(unittest.TestCase):
    def test_coroutines_generators_and_futures(self):
        async def innermost():
            await asyncio.sleep(10**6)  # the innermost

        @types.coroutine
        def middle():
            yield from innermost()  # a generator

        async def outermost():
            await middle()

        coroutine = outermost()
        loop = asyncio.new_event_loop()
        self.addCleanup(loop.close)
        task = loop.create_task(coroutine)
        loop.run_until_complete(_tick())
        lines = awaits(coroutine)
        self.assertEqual(_functions(lines), ["outermost", "middle", "innermost", "sleep"])
        task.cancel()
        loop.run_until_complete(asyncio.wait({task}))

    def test_through_async_generators_and_tasks(self):
        async def innermost():
            await asyncio.sleep(10**6)
            yield

        async def loop_over(stream):
            async for _ in stream():
                yield

        def nested():
            return loop_over(innermost)

        async def next_of(stream):
            await anext(stream(), None)

        async def sent_to(stream):
            await stream().asend(None)

        async def catching():
            try:
                yield
            except ValueError:
                await asyncio.sleep(10**6)

        async def caught():
            generator = catching()
            await anext(generator)
            await generator.athrow(ValueError)

        async def in_a_task(stream):
            await asyncio.create_task(next_of(stream))

        loop = asyncio.new_event_loop()
        self.addCleanup(loop.close)
        for coroutine, expected in (
            (next_of(innermost), ["next_of", "innermost", "sleep"]),
            (next_of(nested), ["next_of", "loop_over", "innermost", "sleep"]),
            (sent_to(nested), ["sent_to", "loop_over", "innermost", "sleep"]),
            (caught(), ["caught", "catching", "sleep"]),
            (in_a_task(innermost), ["in_a_task", "next_of", "innermost", "sleep"]),
        ):
            with self.subTest(expected=expected):
                task = loop.create_task(coroutine)
                loop.run_until_complete(_tick())
                self.assertEqual(_functions(awaits(coroutine)), expected)
                task.cancel()
                loop.run_until_complete(asyncio.wait({task}))

    def test_an_object_of_the_adapters_is_not_looked_into(self):
        class Holder:
            def __init__(self, other):
                self.other = other

            def __await__(self):
                return self

            def __iter__(self):
                return self

            def __next__(self):
                return None

        async def never_awaited():
            pass

        async def waits():
            await Holder(other)

        other = never_awaited()
        self.addCleanup(other.close)
        coroutine = waits()
        self.addCleanup(coroutine.close)
        coroutine.send(None)
        self.assertEqual(_functions(awaits(coroutine)), ["waits"])

    def test_what_is_over_or_nothing_waits_nowhere(self):
        async def over():
            pass

        coroutine = over()
        coroutine.close()
        for nothing in (coroutine, None, 7):
            self.assertEqual(awaits(nothing), [])


def _functions(lines):
    return [line.partition(" in ")[2].partition(":")[0] for line in lines]


async def _tick():
    for _ in range(3):
        await asyncio.sleep(0)


class TestShorten(unittest.TestCase):
    def test_inside_and_outside_the_working_directory(self):
        inside = str(Path.cwd() / "a" / "b.py")
        self.assertEqual(relative(inside), str(Path("a") / "b.py"))
        self.assertEqual(relative("/nowhere/else.py"), "/nowhere/else.py")
        self.assertEqual(relative("<string>"), "<string>")

    @unittest.skipIf(sys.platform == "win32", "it is in use there")
    def test_a_working_directory_that_is_gone(self):
        self.addCleanup(os.chdir, Path.cwd())
        with tempfile.TemporaryDirectory() as directory:
            os.chdir(directory)
        self.assertEqual(relative("/x/y.py"), "/x/y.py")
