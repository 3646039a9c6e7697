#!/usr/bin/python3
"""Makes a picture small enough for the documentation: fewer pixels, 256 colours.

usage: shrink_picture.py FROM.png TO.png WIDTH
"""

import sys

from PIL import Image  # python3-pil, which python3-matplotlib brings


def main(argv: list[str]) -> int:
    if len(argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    picture = Image.open(argv[1]).convert("RGB")
    width = int(argv[3])
    small = picture.resize((width, round(picture.height * width / picture.width)), Image.LANCZOS)
    small.quantize(256, dither=Image.Dither.NONE, kmeans=3).save(argv[2], optimize=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
