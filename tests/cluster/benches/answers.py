"""Answers on port 9400 for every rank that kwok plays, as the engine does (engine/telemetry/progress_state.cc). It runs in the control
plane's network, to which all their addresses lead.

    answers.py PORT

An epoch takes a second, and begins anew at each address that is asked for the first time: no two jobs are equally far.
"""
import asyncio
import json
import sys
import time

EPOCHS = 1_000_000
CHECKPOINT = 10  # epochs between two
BYTES = 123_456_789
PAGE = "HTTP/1.1 {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}"
began = {}


async def main():
    server = await asyncio.start_server(answer, "0.0.0.0", int(sys.argv[1]), backlog=1024)
    print("ready", flush=True)
    await server.serve_forever()


async def answer(reader, writer):
    try:
        request = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
        address = writer.get_extra_info("sockname")[0]
        if request.split(b" ")[1] == b"/progress":
            text, status = json.dumps(progress(time.time() - began.setdefault(address, time.time()))) + "\n", "200 OK"
        else:
            text, status = "", "404 Not Found"
        writer.write(PAGE.format(status, len(text), text).encode())
        await writer.drain()
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.TimeoutError):
        pass
    finally:
        writer.close()


def progress(seconds):
    epoch = int(seconds)
    loss = 0.5 + 1.5 / (1 + epoch)
    return {"state": "training", "epoch": epoch, "epochs": EPOCHS, "step": None, "steps": None,
            "loss": loss if epoch else None, "validation": 1 - loss / 4 if epoch else None, "epochSeconds": 1.0 if epoch else None,
            "etaSeconds": float(EPOCHS - epoch) if epoch > 1 else None,
            "lastCheckpointEpoch": epoch // CHECKPOINT * CHECKPOINT or None,
            "bytes": {"intra": 0, "inter": BYTES if epoch else 0}, "test": None, "bestEpoch": None,
            "ranks": [{"rank": 0, "answers": True, "waitingFor": [], "waitedSeconds": 0.0}]}


if __name__ == "__main__":
    asyncio.run(main())
