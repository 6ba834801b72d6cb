# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What automatic augmentation is made of: augmentations, policies and the choice between them."""

from __future__ import annotations

from stoker.auto_aug.core._augmentation import Augmentation, SignedBin, signed_bin
from stoker.auto_aug.core._select import select
from stoker.auto_aug.core.decorator import augmentation
from stoker.auto_aug.core.policy import Policy

__all__ = ["Augmentation", "Policy", "SignedBin", "augmentation", "select", "signed_bin"]
