from cli.tests.typed import refused
from tests.tables import table


@table
def test_a_wrong_option_for_a_file_is_one_sentence(words: str, said: str) -> None:
    assert said in refused("observe", "nowhere.sr", *words.split())


def test_a_files_option_without_a_file_is_one_sentence() -> None:
    assert "only of a file" in refused("observe", "--run", ".")
