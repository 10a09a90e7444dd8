"""The records that the bench's firmware sends over its serial line: one line of ASCII each.

Stacked on `uart` (1,000,000 baud, 8N1), on whichever of its two lines they come. A record is
`@TYPE,field,…*CRC`, with a CRC-16/CCITT-FALSE over what stands between `@` and `*`. Each record is
annotated as a whole, field by field, and with its checksum.

A line that is no record gets a warning that says why: a wrong checksum, a byte without a stop bit,
a form, a number or a length that the firmware cannot have sent. What comes before the first good
record is passed over: a capture may begin within a line, and a board may say other things first.
There is also a warning where the numbers of the operations have a gap, where a second BOOT tells of
a reset, where END counts other operations or other bytes than came, where the heap is not sound,
where the firmware gave up (FAIL), and at critical sections longer than limit_cycles (0: no limit).

Times are told at the core clock that BOOT states, and until then at core_hz.

Binary class "records": the good lines, each with its newline. Where nothing was damaged they are
the run's log, byte for byte. Class "damaged": the lines that are no records, in the same way, cut
after 160 bytes.

Meta output: the longest critical section so far, in cycles; and at END the number of good records
and of damaged lines.
"""

from .pd import Decoder as Decoder
