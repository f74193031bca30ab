"""Tables of pages as CSV downloads."""

import csv
import io

import pytest

from frontend.components.results.downloads import csv_file


@pytest.mark.parametrize("sign", "=+-@\uff1d\uff0b\uff0d\uff20\t\r\n")
def test_csv_cells_with_a_leading_sign_are_quoted(sign: str) -> None:
    text = f'{sign}HYPERLINK("http://x")'
    response = csv_file("history.csv", [text, "value"], [[text, -5]])
    rows = list(csv.reader(io.StringIO(response.content.decode(), newline="")))
    assert rows == [[f"'{text}", "value"], [f"'{text}", "-5"]]
    assert response["Content-Disposition"] == 'attachment; filename="history.csv"'
