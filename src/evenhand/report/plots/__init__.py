"""Plots as SVG strings: no plotting library, no script.

Colours come from classes that the page's style sheet fills in, so that one drawing serves light, dark and paper. Marks
that must keep their size while a page grows or shrinks stand at percentages of the width.
"""
