"""Text to sentences, as character ranges.

Two passes. `blocks` reads the lines: blank lines, fences, headings, table rows, list items and deliberate line breaks
split the text. `sentences` then looks at every full stop, question mark and the like inside a block and asks whether a
sentence ends there. Both passes are linear: a pattern is matched at a known place and has bounded repeats, or it
repeats one class of characters.

Unit ids depend on the ranges: a changed rule changes the units of new studies made from the same items.
"""
