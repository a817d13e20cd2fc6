import threading
import time
import unittest
from email.message import Message

from modeltest.backend.exchange import Disconnect, Exchange


def exchange(body=b"", **more):
    return Exchange(0, 0, "POST", "/", Message(), body, **more)


class TestExchange(unittest.TestCase):
    def test_parses_its_body(self):
        self.assertEqual(exchange(b'{"a": [1]}').json, {"a": [1]})
        with self.assertRaises(ValueError):
            _ = exchange(b"no").json

    def test_its_text_is_the_request_without_credentials(self):
        headers = Message()
        for name in (
            "Authorization",
            "x-api-key",
            "X-Goog-Api-Key",
            "Cookie",
            "Proxy-Authorization",
        ):
            headers[name] = "s3cret"
        headers["Accept"] = "*/*"
        one = Exchange(0, 0, "POST", "/v1?key=s3cret&alt=sse&access_token=s3cret", headers, b"{}")
        self.assertEqual(
            str(one),
            "POST /v1?key=[redacted]&alt=sse&access_token=[redacted]\n"
            "Authorization: [redacted]\nx-api-key: [redacted]\nX-Goog-Api-Key: [redacted]\n"
            "Cookie: [redacted]\nProxy-Authorization: [redacted]\nAccept: */*\n{}",
        )
        self.assertNotIn("s3cret", repr(one))

    def test_its_text_is_short(self):
        self.assertRegex(str(exchange(b"a" * 10_000)), r"^POST /\na{600}… \(10000 bytes\)$")
        self.assertEqual(str(exchange()), "POST /")

    def test_is_over_once_the_peer_left_or_all_was_sent_or_it_was_reset(self):
        self.assertFalse(exchange().over)
        for note in (
            lambda e: e.note_disconnected(Disconnect.FIN),
            lambda e: e.note_ended(),
            lambda e: e.note_reset(),
        ):
            one = exchange()
            note(one)
            self.assertTrue(one.over)

    def test_only_the_first_leaving_counts(self):
        one = exchange()
        before = time.monotonic()
        one.note_disconnected(Disconnect.FIN)
        disconnected_at = one.disconnected_at
        one.note_disconnected(Disconnect.RST)
        self.assertIs(one.disconnected, Disconnect.FIN)
        self.assertEqual(one.disconnected_at, disconnected_at)
        self.assertLessEqual(before, disconnected_at)

    def test_every_change_is_announced(self):
        heard = []
        one = exchange(changed=lambda: heard.append(1))
        one.note_disconnected(Disconnect.RST)
        one.note_ended()
        one.note_reset()
        one.note_blocked()
        one.wake()
        self.assertEqual(len(heard), 5)
        self.assertEqual(one.blocked, 1)

    def test_waits_for_a_change(self):
        one = exchange()
        thread = threading.Thread(target=one.note_ended)
        thread.start()
        self.assertTrue(one.wait(lambda: one.ended, None))
        thread.join()

    def test_a_wait_ends_when_its_time_is_over(self):
        self.assertFalse(exchange().wait(lambda: False, 0.001))

    def test_two_exchanges_are_never_equal(self):
        self.assertNotEqual(exchange(), exchange())
        self.assertEqual(len({exchange(), exchange()}), 2)

    def test_its_repr_is_short(self):
        self.assertNotIn("secret", repr(exchange(b"secret")))
