"""Text to sentences, as character ranges.

Two passes. `blocks` reads the lines: blank lines, fences, headings, table rows, list items and lines broken on purpose
part the text. `sentences` then looks at every full stop, question mark and the like inside a block and asks whether a
sentence ends there. Both passes are linear: a pattern is matched at a known place and has bounded repeats, or it
repeats one class of characters.

Unit ids depend on the ranges: to change a rule here is to change the units of a study made anew from the same items.
"""
