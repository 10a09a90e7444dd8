import pytest

from cli.tests.typed import refused


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--uart u.log", "--uart alone is not enough"),
        ("--scenario mem_frag", "go together"),
        ("--allocator tlsf", "go together"),
        ("--run . --scenario mem_frag --allocator tlsf", "not both"),
        ("--channels CRIT", "give OURS=THEIRS"),
        ("--channels CRIT=D0,CRIT=D1", "names a channel twice"),
        ("--board nucleo-f446re", "--board goes with --scenario and --allocator"),
        ("--elf my.elf", "--elf: only of a live capture"),
        ("--latency TRIG", "give TRIG:ACK"),
        ("--latency :ACK", "give TRIG:ACK"),
        ("--channels CRIT=D0", "No such file"),
    ],
)
def test_a_wrong_option_for_a_file_is_one_sentence(words: str, said: str) -> None:
    assert said in refused("observe", "nowhere.sr", *words.split())


def test_a_files_option_without_a_file_is_one_sentence() -> None:
    assert "only of a file" in refused("observe", "--run", ".")
