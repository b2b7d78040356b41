# SPDX-License-Identifier: Apache-2.0
"""The texts that are generated for a configuration, besides dynsel.c."""

from pathlib import Path

from . import aspect_texts, aspects, opencl_texts
from .header import autoconf


def public_headers(top, config):
    """Name of a header in <dynsel/> -> its text."""
    chosen = config.aspects()
    return {"autoconf.h": autoconf(config), "aspect_names.h": chosen.names_header(),
            "aspect_sets.h": chosen.sets_header(),
            "opencl_iterators.h": opencl_texts.iterators_header(_text(top, opencl_texts.ITERATORS))}


def private_files(top, config):
    """Path as sources include it -> its text."""
    chosen, everything = config.aspects(), config.catalogue.targets
    return {"generated/targets.inc": aspect_texts.targets_inc(chosen.targets, chosen.aspects),
            "generated/all_targets.inc": aspect_texts.targets_inc(everything, chosen.aspects),
            "generated/opencl_prelude.inc":
                aspect_texts.opencl_prelude(chosen.aspects, chosen.sets, _text(top, aspects.TRAITS))}


def _text(top, path):
    return (Path(top) / path).read_text(encoding="utf-8")
