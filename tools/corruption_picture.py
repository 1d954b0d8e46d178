#!/usr/bin/env python3
"""One row of a data set after each kind of corruption, severities 1 to 5 side by side, as a picture for a document: what
`yardstick-builtin corrupt` prints, with the names of the kinds beside it.

usage: corruption_picture.py DATA.safetensors ROW OUT.svg
"""
import base64
import os
import struct
import subprocess
import sys
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.path.join(os.environ.get("YARDSTICK_BIN", ROOT), "yardstick-builtin")
SCALE, NAMES, HEAD, GAP = 2, 150, 22, 2  # of a pixel; room for names, and above; between pictures, in pixels


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, channels, pixels):
    rows = b"".join(b"\0" + pixels[at:at + width * channels] for at in range(0, len(pixels), width * channels))
    head = struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def read(picture):
    """Width, height, channels, the comments and the pixels of a Netpbm picture as yardstick-builtin prints it."""
    lines = picture.splitlines()
    names = [line[2:] for line in lines if line.startswith("# ")]
    size, rest = lines[len(names) + 1], lines[len(names) + 3:]
    width, height = map(int, size.split())
    return width, height, 3 if lines[0] == "P3" else 1, names, bytes(map(int, rest))


def draw(width, height, channels, kinds, pixels):
    columns = ["as it is", "1", "2", "3", "4", "5"]
    across, down = (width + GAP) / len(columns) * SCALE, (height + GAP) / len(kinds) * SCALE
    text = ['<text x="%g" y="15" text-anchor="middle">%s</text>' % (NAMES + (i + 0.5) * across - GAP, column)
            for i, column in enumerate(columns)]
    text += ['<text x="%d" y="%g" text-anchor="end">%s</text>' % (NAMES - 8, HEAD + (i + 0.5) * down + 3, kind.replace("_", " "))
             for i, kind in enumerate(kinds)]
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="13">\n'
            '<rect width="100%%" height="100%%" fill="white"/>\n%s\n'
            '<image x="%d" y="%d" width="%d" height="%d" style="image-rendering:pixelated" href="data:image/png;base64,%s"/>\n</svg>\n'
            % (NAMES + width * SCALE + GAP, HEAD + height * SCALE + GAP, "\n".join(text), NAMES, HEAD, width * SCALE, height * SCALE,
               base64.b64encode(png(width, height, channels, pixels)).decode()))


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    data, row, out = sys.argv[1:]
    made = subprocess.run([PROGRAM, "corrupt", "--data", data, "--row", row], stdout=subprocess.PIPE, text=True)
    if made.returncode:
        sys.exit(made.returncode)
    with open(out, "w") as file:
        file.write(draw(*read(made.stdout)))


if __name__ == "__main__":
    main()
