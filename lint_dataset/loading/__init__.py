"""Will it load: what the readers that trainers use make of a file as a whole.

A row's ``outline`` (its keys and types) is part of its measurement, so nothing is parsed twice: what a loader does with
a file follows from the outlines of its rows and from the block of the file that each of them is in.
"""
