"""Characters that are obeyed or hidden where text is shown, as parts of a regular expression."""

from __future__ import annotations

from typing import Final

CONTROLS: Final = r"\0-\x1f\x7f-\x9f"
"""What a terminal obeys, tab and line end included."""

TURNING: Final = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""What turns the direction of the text that follows: it reads otherwise than it is written."""

HIDDEN: Final = (
    r"\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f"
    r"\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e0fff"
)
"""What takes no place: two names that look the same may differ by it. Variation selectors, which
choose between forms that are seen, are none."""

BREAKING: Final = r"\u2028\u2029"
"""Line ends of Unicode."""

UNSEEN: Final = f"{TURNING}{HIDDEN}{BREAKING}"
"""All of them but the control characters."""
