#!/usr/bin/env python3
"""A browser that is none: it speaks the pipe of DevTools on its descriptors 3 and 4 as Chromium does, and its page is written
here. STAND_IN says what it does wrong: old, dies, dies_later, crashes, hangs, twice, rubbish, megabyte, script, jumps, ticks;
or fetches: opens no plan and says how its graph came."""
import base64
import json
import os
import struct
import sys
import time

ACT = os.environ.get("STAND_IN", "")
START = time.monotonic_ns()
LOGITS = [float(i) for i in range(10)]


def say(message):
    os.write(4, json.dumps(message).encode() + b"\0")


def hear():
    """Messages, as they come."""
    rest = b""
    while True:
        part = os.read(3, 65536)
        if not part:
            sys.exit(0)
        *lines, rest = (rest + part).split(b"\0")
        yield from map(json.loads, lines)


def event(method, **params):
    say({"method": method, "sessionId": "S", "params": params})


def page_says(message):
    event("Runtime.bindingCalled", name="yardstickSend", payload=json.dumps(message))


def clock_ms():
    """Of the page: a thousand seconds ahead; drifting by a part in a thousand and ticking by 100 us; or jumping back."""
    ns = time.monotonic_ns() - START
    if ACT == "ticks":
        return (ns + ns // 1000) // 100000 * 0.1
    return 1e6 + ns / 1e6


def answer_question(message):
    kind = message["type"]
    if ACT == "hangs":
        return
    if ACT == "crashes" and kind == "open":
        event("Inspector.targetCrashed")
    elif ACT == "dies_later" and kind == "open":
        os._exit(3)
    elif ACT == "megabyte" and kind == "hello":
        page_says({"type": "hello", "protocol": 1, "framework": "x" * (1 << 20)})
    elif ACT == "fetches" and kind == "open":
        event("Fetch.requestPaused", requestId="R", request={"url": "https://yardstick.test/file?path=" + message["plan"]["graph"]})
    elif kind == "hello":
        page_says({"type": "hello", "protocol": 1, "adapter": "stand-in", "features": ["forward", "infer", "answers_later"]})
        if ACT == "twice":
            page_says({"type": "hello", "protocol": 1})
    elif kind == "open":
        page_says({"type": "opened", "threads": 1, "libraries": [], "clock_tick_ns": 100000 if ACT == "ticks" else 5000})
    elif kind == "infer":
        for first in range(0, message["requests"], 4):
            start = clock_ms()
            time.sleep(0.01)
            end = clock_ms() - (2000 if ACT == "jumps" and first else 0)
            latency = int((end - start) * 250000)
            page_says({"type": "latencies", "first": first, "count": 4, "t_start_ns": int(start * 1e6), "t_end_ns": int(end * 1e6),
                       "latency_ns": [latency] * 4})
        page_says({"type": "done"})


def evaluate(number, text):
    value = None
    if text.startswith("yardstickReceive("):
        say({"id": number, "result": {"result": {"type": "undefined"}}})
        return answer_question(json.loads(text[len("yardstickReceive("):-1]))
    if text.startswith("yardstickShow("):
        value = base64.b64encode(struct.pack("<10f", *LOGITS)).decode()
    if text == "performance.now()":
        value = clock_ms()
    say({"id": number, "result": {"result": {"value": value}}})


def main():
    if ACT == "dies":
        sys.exit(3)
    for command in hear():
        method, number = command["method"], command["id"]
        if ACT == "rubbish":
            os.write(4, b"{]\0")
        if method == "Browser.getVersion":
            say({"id": number, "result": {"product": "Stand-in/%d.0" % (90 if ACT == "old" else 156)}})
        elif method == "Target.createTarget":
            say({"id": number, "result": {"targetId": "T"}})
        elif method == "Target.attachToTarget":
            say({"id": number, "result": {"sessionId": "S"}})
        elif method == "Runtime.evaluate":
            evaluate(number, command["params"]["expression"])
        else:
            say({"id": number, "result": {}})
        if method == "Fetch.fulfillRequest":
            page_says({"type": "error", "code": "load_failed", "stage": "open", "message": str(command["params"]["responseCode"])})
        if method == "Page.navigate" and ACT == "script":
            event("Runtime.exceptionThrown", exceptionDetails={"exception": {"description": "SyntaxError: no such word"}})
        elif method == "Page.navigate":
            page_says({"type": "ready"})


main()
