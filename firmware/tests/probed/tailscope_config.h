/* Found before the examples' own: the pins are given on the command line. */
