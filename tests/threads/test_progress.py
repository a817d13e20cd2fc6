import threading
import unittest

from modeltest.threads.progress import Progress
from tests.backend.client import PATIENCE


class TestProgress(unittest.TestCase):
    def test_counts(self):
        progress = Progress()
        self.assertEqual(progress.count, 0)
        progress.advance()
        progress.advance()
        self.assertEqual(progress.count, 2)

    def test_tells_a_listener_only_inside_the_block(self):
        progress, heard = Progress(), []
        with progress.subscribe(lambda: heard.append(progress.count)):
            progress.advance()
            progress.advance()
        progress.advance()
        self.assertEqual(heard, [1, 2])

    def test_is_waited_for(self):
        progress = Progress()
        thread = threading.Thread(target=progress.advance)
        thread.start()
        self.assertTrue(progress.wait(1, PATIENCE))
        thread.join()
        self.assertFalse(progress.wait(2, 0.001))

    def test_a_block_that_raises_stops_listening_too(self):
        progress, heard = Progress(), []
        with self.assertRaises(KeyError), progress.subscribe(lambda: heard.append(1)):
            raise KeyError
        progress.advance()
        self.assertEqual(heard, [])

    def test_loses_no_count_among_threads(self):
        progress = Progress()
        threads = [
            threading.Thread(target=lambda: [progress.advance() for _ in range(1000)])
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(progress.count, 4000)
