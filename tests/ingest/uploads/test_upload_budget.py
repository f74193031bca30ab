"""Memory budget of uploads: charged by project, and released."""

import pytest

from endpoints.errors import Overloaded
from ingest.uploads.upload_budget import UploadBudget


def test_released_bytes_may_be_charged_again() -> None:
    budget = UploadBudget(total=100, per_project=100)
    with budget.account(1) as account:
        account.charge(60)
        with budget.account(1) as other, pytest.raises(Overloaded, match="of this project"):
            other.charge(41)
        with budget.account(1) as other:
            other.charge(40)
    with budget.account(1) as account:
        account.charge(100)


def test_bytes_over_the_share_of_a_project_are_rejected() -> None:
    budget = UploadBudget(total=100, per_project=40)
    with budget.account(1) as account, budget.account(2) as other:
        account.charge(40)
        with pytest.raises(Overloaded, match=r"use 40 bytes .* is 40\."):
            account.charge(1)
        other.charge(40)


def test_bytes_over_the_total_budget_are_rejected() -> None:
    budget = UploadBudget(total=100, per_project=40)
    with budget.account(1) as one, budget.account(2) as two, budget.account(3) as three:
        one.charge(40)
        two.charge(40)
        with pytest.raises(Overloaded, match="Uploads in progress use 80 bytes"):
            three.charge(21)
        three.charge(20)


def test_account_without_a_charge_leaves_no_state() -> None:
    budget = UploadBudget(total=100, per_project=40)
    for project in range(50):
        with budget.account(project):
            pass
    assert not budget._charged_by
    assert not budget._charged
