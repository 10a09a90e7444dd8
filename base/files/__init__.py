"""Files from outside and to outside: read guardedly, written whole.
Imports no room but processes, and the paths.
"""
