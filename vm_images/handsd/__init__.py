"""The program inside a desk: hands, eyes, commands and files, spoken to over its standard input and output.

It needs Python, Pillow and the X libraries of the guest, and nothing else of this project.
"""
